// JSON for people to read: an array or object that is short is on one line, and any other has a line for each element.
#pragma once

#include <string>

#include "wire/json.h"

namespace holdfast::wire {

std::string IndentedJson(Json json);

}  // namespace holdfast::wire
