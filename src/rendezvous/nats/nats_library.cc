#include "rendezvous/nats/nats_library.h"

#include <fmt/format.h>

#include "base/dynamic_library.h"

namespace holdfast::rendezvous {
namespace {

void FindOptions(DynamicLibrary& file, NatsLibrary& library) {
  file.Find("natsOptions_Create", library.options_create);
  file.Find("natsOptions_Destroy", library.options_destroy);
  file.Find("natsOptions_SetURL", library.set_url);
  file.Find("natsOptions_SetName", library.set_name);
  file.Find("natsOptions_SetTimeout", library.set_timeout);
  file.Find("natsOptions_SetSecure", library.set_secure);
  file.Find("natsOptions_SetExpectedHostname", library.set_expected_hostname);
  file.Find("natsOptions_SetUserCredentialsFromFiles", library.set_credentials);
  file.Find("natsOptions_SetAllowReconnect", library.set_allow_reconnect);
  file.Find("natsOptions_SetPingInterval", library.set_ping_interval);
  file.Find("natsOptions_SetMaxPingsOut", library.set_max_pings_out);
  file.Find("natsOptions_SetSendAsap", library.set_send_asap);
  file.Find("natsOptions_SetWriteDeadline", library.set_write_deadline);
  file.Find("natsOptions_UseGlobalMessageDelivery", library.use_global_delivery);
  file.Find("natsOptions_SetFailRequestsOnDisconnect", library.set_fail_requests);
  file.Find("natsOptions_SetErrorHandler", library.set_error_handler);
  file.Find("natsOptions_SetClosedCB", library.set_closed_callback);
}

void FindConnection(DynamicLibrary& file, NatsLibrary& library) {
  file.Find("natsStatus_GetText", library.status_text);
  file.Find("nats_GetLastError", library.last_error);
  file.Find("nats_ReleaseThreadMemory", library.release_thread_memory);
  file.Find("natsConnection_Connect", library.connect);
  file.Find("natsConnection_Destroy", library.connection_destroy);
  file.Find("natsConnection_GetClientIP", library.client_address);
  file.Find("natsConnection_JetStream", library.jet_stream);
}

void FindBucket(DynamicLibrary& file, NatsLibrary& library) {
  file.Find("jsOptions_Init", library.js_options_init);
  file.Find("jsCtx_Destroy", library.js_destroy);
  file.Find("js_GetStreamInfo", library.stream_info);
  file.Find("jsStreamInfo_Destroy", library.stream_info_destroy);
  file.Find("js_KeyValue", library.bind_bucket);
  file.Find("js_CreateKeyValue", library.create_bucket);
  file.Find("kvConfig_Init", library.bucket_config_init);
  file.Find("kvStore_Destroy", library.bucket_destroy);
  file.Find("kvStore_Get", library.bucket_get);
  file.Find("kvStore_Put", library.bucket_put);
  file.Find("kvStore_Create", library.bucket_create);
  file.Find("kvStore_Update", library.bucket_update);
  file.Find("kvStore_Delete", library.bucket_delete);
  file.Find("kvStore_Watch", library.bucket_watch);
  file.Find("kvWatchOptions_Init", library.watch_options_init);
  file.Find("kvWatcher_Next", library.watcher_next);
  file.Find("kvWatcher_Destroy", library.watcher_destroy);
  file.Find("kvEntry_Key", library.entry_key);
  file.Find("kvEntry_Value", library.entry_value);
  file.Find("kvEntry_ValueLen", library.entry_value_length);
  file.Find("kvEntry_Revision", library.entry_revision);
  file.Find("kvEntry_Destroy", library.entry_destroy);
}

Result<NatsLibrary> LoadFile(const std::string& name) {
  auto file = DynamicLibrary::Open(name);
  if (!file) {
    return Fail(ErrorKind::kSystem, fmt::format("a bus over NATS needs {}, which is in Debian's package libnats3.4: {}",
                                                name, file.error().message));
  }
  NatsLibrary library{};
  FindOptions(*file, library);
  FindConnection(*file, library);
  FindBucket(*file, library);
  if (file->missing() != nullptr) {
    return Fail(ErrorKind::kSystem, fmt::format("a bus over NATS cannot use {}: it has no {}", name, file->missing()));
  }
  file->LeaveOpenSslAtExit();
  return library;
}

ErrorKind KindOf(natsStatus status) {
  if (status == NATS_NOT_FOUND) return ErrorKind::kNotFound;
  return status == NATS_TIMEOUT ? ErrorKind::kTimeout : ErrorKind::kDisconnected;
}

}  // namespace

// A library that has been loaded is kept, and a failure is not: the library may be installed later.
Result<const NatsLibrary*> NatsLibrary::Load(const std::string& name) {
  static NatsLibrary loaded{};
  static bool is_loaded = false;
  if (is_loaded && name == kNatsLibraryName) return &loaded;
  TRY(loaded, LoadFile(name));
  is_loaded = true;
  return &loaded;
}

// The library's own text has more than that of the status, but begins with a place in its source: "(kv.c:316): ...".
Error NatsLibrary::ErrorOf(std::string_view call, natsStatus status) const {
  natsStatus last = NATS_OK;
  const char* text = last_error(&last);
  std::string_view reason = text != nullptr && last == status ? text : std::string_view();
  if (reason.starts_with('(')) reason.remove_prefix(std::min(reason.find("): ") + 3, reason.size()));
  if (reason.empty()) reason = status_text(status);
  return {KindOf(status), fmt::format("{}: {}", call, reason)};
}

}  // namespace holdfast::rendezvous
