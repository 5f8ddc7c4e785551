// The functions of OpenSSL that this folder uses for TLS, looked up at run time. OpenSSL is loaded when the first
// TlsContext is made: linked statically, it would be a third of the program, and every start would relocate it.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <string>

#include "base/result.h"

namespace holdfast::transport {

inline constexpr char kTlsLibraryName[] = "libssl.so.3";

struct TlsLibrary {
  // Loads the library, once for the program, which blocks while two files are mapped and initialized. An error names
  // the package that is missing. May be called on any thread.
  static Result<> Load(const std::string& name = kTlsLibraryName);

  decltype(&::SSL_CTX_new) context_new;
  decltype(&::SSL_CTX_free) context_free;
  decltype(&::SSL_CTX_ctrl) context_control;
  decltype(&::SSL_CTX_set_cipher_list) set_cipher_list;
  decltype(&::SSL_CTX_set_options) set_options;
  decltype(&::SSL_CTX_set_default_read_buffer_len) set_read_buffer;
  decltype(&::SSL_CTX_set_default_passwd_cb) set_passphrase_callback;
  decltype(&::SSL_CTX_use_certificate_chain_file) use_certificate_chain;
  decltype(&::SSL_CTX_use_PrivateKey_file) use_private_key;
  decltype(&::SSL_CTX_set_default_verify_paths) trust_system_roots;
  decltype(&::SSL_CTX_load_verify_file) load_trusted;
  decltype(&::SSL_CTX_get0_param) context_parameters;
  decltype(&::TLS_server_method) server_method;
  decltype(&::TLS_client_method) client_method;

  decltype(&::SSL_new) session_new;
  decltype(&::SSL_free) session_free;
  decltype(&::SSL_ctrl) control;
  decltype(&::SSL_set_bio) set_bio;
  decltype(&::SSL_set_accept_state) set_accept_state;
  decltype(&::SSL_set_connect_state) set_connect_state;
  decltype(&::SSL_do_handshake) do_handshake;
  decltype(&::SSL_read_ex) read;
  decltype(&::SSL_write_ex) write;
  decltype(&::SSL_shutdown) shut_down;
  decltype(&::SSL_get_error) error_of;
  decltype(&::SSL_export_keying_material) export_secret;

  decltype(&::SSL_set_verify) set_verify;
  decltype(&::SSL_get0_param) parameters;
  decltype(&::SSL_set_hostflags) set_host_flags;
  decltype(&::SSL_set1_host) set_host;
  decltype(&::SSL_set_ex_data) set_attached;
  decltype(&::SSL_get_ex_data) attached;
  decltype(&::SSL_get_ex_data_X509_STORE_CTX_idx) session_index;
  decltype(&::CRYPTO_get_ex_new_index) new_index;

  decltype(&::X509_VERIFY_PARAM_set_flags) set_verify_flags;
  decltype(&::X509_VERIFY_PARAM_set1_ip_asc) set_address;
  decltype(&::X509_STORE_CTX_get_ex_data) check_attached;
  decltype(&::X509_STORE_CTX_get_error) check_error;
  decltype(&::X509_STORE_CTX_get0_cert) checked_certificate;
  decltype(&::X509_verify_cert_error_string) check_error_text;
  decltype(&::X509_get_ext_d2i) certificate_extension;
  decltype(&::GENERAL_NAMES_free) names_free;
  decltype(&::OPENSSL_sk_num) stack_size;
  decltype(&::OPENSSL_sk_value) stack_element;
  decltype(&::ASN1_STRING_length) string_length;
  decltype(&::ASN1_STRING_get0_data) string_data;

  decltype(&::BIO_new) bio_new;
  decltype(&::BIO_get_new_index) bio_new_index;
  decltype(&::BIO_meth_new) bio_method_new;
  decltype(&::BIO_meth_set_read) bio_method_set_read;
  decltype(&::BIO_meth_set_write) bio_method_set_write;
  decltype(&::BIO_meth_set_ctrl) bio_method_set_control;
  decltype(&::BIO_set_data) bio_set_data;
  decltype(&::BIO_get_data) bio_data;
  decltype(&::BIO_set_init) bio_set_init;
  decltype(&::BIO_set_flags) bio_set_flags;
  decltype(&::BIO_clear_flags) bio_clear_flags;

  decltype(&::ERR_get_error) take_error;
  decltype(&::ERR_peek_error) peek_error;
  decltype(&::ERR_clear_error) clear_errors;
  decltype(&::ERR_reason_error_string) reason_text;
};

// Returns the library, which must have been loaded: every TlsContext has done so.
const TlsLibrary& Tls();

}  // namespace holdfast::transport
