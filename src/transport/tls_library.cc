#include "transport/tls_library.h"

#include <atomic>

#include <fmt/format.h>

#include "base/check.h"
#include "base/dynamic_library.h"
#include "base/mutex.h"

namespace holdfast::transport {
namespace {

std::atomic<const TlsLibrary*> loaded_library = nullptr;

void FindContexts(DynamicLibrary& file, TlsLibrary& library) {
  file.Find("SSL_CTX_new", library.context_new);
  file.Find("SSL_CTX_free", library.context_free);
  file.Find("SSL_CTX_ctrl", library.context_control);
  file.Find("SSL_CTX_set_cipher_list", library.set_cipher_list);
  file.Find("SSL_CTX_set_options", library.set_options);
  file.Find("SSL_CTX_set_default_read_buffer_len", library.set_read_buffer);
  file.Find("SSL_CTX_set_default_passwd_cb", library.set_passphrase_callback);
  file.Find("SSL_CTX_use_certificate_chain_file", library.use_certificate_chain);
  file.Find("SSL_CTX_use_PrivateKey_file", library.use_private_key);
  file.Find("SSL_CTX_set_default_verify_paths", library.trust_system_roots);
  file.Find("SSL_CTX_load_verify_file", library.load_trusted);
  file.Find("SSL_CTX_get0_param", library.context_parameters);
  file.Find("TLS_server_method", library.server_method);
  file.Find("TLS_client_method", library.client_method);
}

void FindSessions(DynamicLibrary& file, TlsLibrary& library) {
  file.Find("SSL_new", library.session_new);
  file.Find("SSL_free", library.session_free);
  file.Find("SSL_ctrl", library.control);
  file.Find("SSL_set_bio", library.set_bio);
  file.Find("SSL_set_accept_state", library.set_accept_state);
  file.Find("SSL_set_connect_state", library.set_connect_state);
  file.Find("SSL_do_handshake", library.do_handshake);
  file.Find("SSL_read_ex", library.read);
  file.Find("SSL_write_ex", library.write);
  file.Find("SSL_shutdown", library.shut_down);
  file.Find("SSL_get_error", library.error_of);
  file.Find("SSL_export_keying_material", library.export_secret);
  file.Find("SSL_set_verify", library.set_verify);
  file.Find("SSL_get0_param", library.parameters);
  file.Find("SSL_set_hostflags", library.set_host_flags);
  file.Find("SSL_set1_host", library.set_host);
  file.Find("SSL_set_ex_data", library.set_attached);
  file.Find("SSL_get_ex_data", library.attached);
  file.Find("SSL_get_ex_data_X509_STORE_CTX_idx", library.session_index);
  file.Find("CRYPTO_get_ex_new_index", library.new_index);
}

void FindCertificates(DynamicLibrary& file, TlsLibrary& library) {
  file.Find("X509_VERIFY_PARAM_set_flags", library.set_verify_flags);
  file.Find("X509_VERIFY_PARAM_set1_ip_asc", library.set_address);
  file.Find("X509_STORE_CTX_get_ex_data", library.check_attached);
  file.Find("X509_STORE_CTX_get_error", library.check_error);
  file.Find("X509_STORE_CTX_get0_cert", library.checked_certificate);
  file.Find("X509_verify_cert_error_string", library.check_error_text);
  file.Find("X509_get_ext_d2i", library.certificate_extension);
  file.Find("GENERAL_NAMES_free", library.names_free);
  file.Find("OPENSSL_sk_num", library.stack_size);
  file.Find("OPENSSL_sk_value", library.stack_element);
  file.Find("ASN1_STRING_length", library.string_length);
  file.Find("ASN1_STRING_get0_data", library.string_data);
}

void FindBiosAndErrors(DynamicLibrary& file, TlsLibrary& library) {
  file.Find("BIO_new", library.bio_new);
  file.Find("BIO_get_new_index", library.bio_new_index);
  file.Find("BIO_meth_new", library.bio_method_new);
  file.Find("BIO_meth_set_read", library.bio_method_set_read);
  file.Find("BIO_meth_set_write", library.bio_method_set_write);
  file.Find("BIO_meth_set_ctrl", library.bio_method_set_control);
  file.Find("BIO_set_data", library.bio_set_data);
  file.Find("BIO_get_data", library.bio_data);
  file.Find("BIO_set_init", library.bio_set_init);
  file.Find("BIO_set_flags", library.bio_set_flags);
  file.Find("BIO_clear_flags", library.bio_clear_flags);
  file.Find("ERR_get_error", library.take_error);
  file.Find("ERR_peek_error", library.peek_error);
  file.Find("ERR_clear_error", library.clear_errors);
  file.Find("ERR_reason_error_string", library.reason_text);
}

// A symbol of libcrypto is found through libssl, which needs it.
Result<TlsLibrary> LoadFile(const std::string& name) {
  auto file = DynamicLibrary::Open(name);
  if (!file) {
    return Fail(ErrorKind::kSystem,
                fmt::format("TLS needs {}, which is in Debian's package libssl3: {}", name, file.error().message));
  }
  TlsLibrary library{};
  FindContexts(*file, library);
  FindSessions(*file, library);
  FindCertificates(*file, library);
  FindBiosAndErrors(*file, library);
  if (file->missing() != nullptr) {
    return Fail(ErrorKind::kSystem, fmt::format("TLS cannot use {}: it has no {}", name, file->missing()));
  }
  file->LeaveOpenSslAtExit();
  return library;
}

}  // namespace

// A failure is not kept: the library may be installed later.
Result<> TlsLibrary::Load(const std::string& name) {
  static Mutex mutex;
  static TlsLibrary library;
  const MutexLock lock(mutex);
  if (loaded_library != nullptr && name == kTlsLibraryName) return {};
  TRY(library, LoadFile(name));
  loaded_library = &library;
  return {};
}

const TlsLibrary& Tls() {
  const TlsLibrary* const library = loaded_library;
  CHECK(library != nullptr);
  return *library;
}

}  // namespace holdfast::transport
