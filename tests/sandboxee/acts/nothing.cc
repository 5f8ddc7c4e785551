#include "sandboxee.h"

int main() { return kDone; }
