// The functions of the NATS library that this folder uses, looked up at run time. They may be called on workers only,
// because most of them can wait: for the network, or for another thread of the library.
#pragma once

#include <string>
#include <string_view>

#include <nats/nats.h>

#include "base/result.h"

namespace holdfast::rendezvous {

inline constexpr char kNatsLibraryName[] = "libnats.so.3.4";

struct NatsLibrary {
  // Loads the library, once for all buses of the program. An error names the package that is missing.
  static Result<const NatsLibrary*> Load(const std::string& name = kNatsLibraryName);

  // Returns the error of a call that has failed: "publish: Connection Closed".
  Error ErrorOf(std::string_view call, natsStatus status) const;

  decltype(&::natsStatus_GetText) status_text;
  decltype(&::nats_GetLastError) last_error;
  decltype(&::nats_ReleaseThreadMemory) release_thread_memory;

  decltype(&::natsOptions_Create) options_create;
  decltype(&::natsOptions_Destroy) options_destroy;
  decltype(&::natsOptions_SetURL) set_url;
  decltype(&::natsOptions_SetName) set_name;
  decltype(&::natsOptions_SetTimeout) set_timeout;
  decltype(&::natsOptions_SetSecure) set_secure;
  decltype(&::natsOptions_SetExpectedHostname) set_expected_hostname;
  decltype(&::natsOptions_SetUserCredentialsFromFiles) set_credentials;
  decltype(&::natsOptions_SetAllowReconnect) set_allow_reconnect;
  decltype(&::natsOptions_SetPingInterval) set_ping_interval;
  decltype(&::natsOptions_SetMaxPingsOut) set_max_pings_out;
  decltype(&::natsOptions_SetSendAsap) set_send_asap;
  decltype(&::natsOptions_SetWriteDeadline) set_write_deadline;
  decltype(&::natsOptions_UseGlobalMessageDelivery) use_global_delivery;
  decltype(&::natsOptions_SetFailRequestsOnDisconnect) set_fail_requests;
  decltype(&::natsOptions_SetErrorHandler) set_error_handler;
  decltype(&::natsOptions_SetClosedCB) set_closed_callback;

  decltype(&::natsConnection_Connect) connect;
  decltype(&::natsConnection_Destroy) connection_destroy;
  decltype(&::natsConnection_GetClientIP) client_address;
  decltype(&::natsConnection_JetStream) jet_stream;

  decltype(&::jsOptions_Init) js_options_init;
  decltype(&::jsCtx_Destroy) js_destroy;
  decltype(&::js_GetStreamInfo) stream_info;
  decltype(&::jsStreamInfo_Destroy) stream_info_destroy;
  decltype(&::js_KeyValue) bind_bucket;
  decltype(&::js_CreateKeyValue) create_bucket;
  decltype(&::kvConfig_Init) bucket_config_init;
  decltype(&::kvStore_Destroy) bucket_destroy;
  decltype(&::kvStore_Get) bucket_get;
  decltype(&::kvStore_Put) bucket_put;
  decltype(&::kvStore_Create) bucket_create;
  decltype(&::kvStore_Update) bucket_update;
  decltype(&::kvStore_Delete) bucket_delete;
  decltype(&::kvStore_Watch) bucket_watch;
  decltype(&::kvWatchOptions_Init) watch_options_init;
  decltype(&::kvWatcher_Next) watcher_next;
  decltype(&::kvWatcher_Destroy) watcher_destroy;
  decltype(&::kvEntry_Key) entry_key;
  decltype(&::kvEntry_Value) entry_value;
  decltype(&::kvEntry_ValueLen) entry_value_length;
  decltype(&::kvEntry_Revision) entry_revision;
  decltype(&::kvEntry_Destroy) entry_destroy;
};

// The library keeps memory for each thread that calls it. A worker has one of these objects while it does, because it
// may end afterwards.
class NatsCalls {
 public:
  explicit NatsCalls(const NatsLibrary& library) : library_(library) {}
  ~NatsCalls() { library_.release_thread_memory(); }
  NatsCalls(const NatsCalls&) = delete;
  NatsCalls& operator=(const NatsCalls&) = delete;

 private:
  const NatsLibrary& library_;
};

}  // namespace holdfast::rendezvous
