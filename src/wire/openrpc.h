// The description of the protocol for programs: an OpenRPC document with every method and notification, the schemas of
// their params and results, and the error codes. It is made from the same types as the server's table of methods.
//
// OpenRPC has no words for some of what the protocol is, and these extensions say it:
//   x-sender            the side that sends the request or the notification: "client" or "server"
//   x-observer          whether a connection that observes a session may call the method
//   x-params            the schema of the whole params, which also says what holds for several members together
//   x-params-optional   whether the params may be absent
// A method without a result is a notification.
#pragma once

#include <string>

namespace holdfast::wire {

std::string OpenRpcDocument();  // with line breaks, and one at the end

}  // namespace holdfast::wire
