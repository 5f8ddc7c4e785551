#include "http/transfer.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "http/syntax.h"
#include "http/url.h"

namespace holdfast::http {
namespace {

// The settings for outgoing connections in the server's environment, beyond those that libcurl reads by itself
// (http_proxy, https_proxy, HTTPS_PROXY, all_proxy, ALL_PROXY, no_proxy, NO_PROXY).

// The certificate authorities to trust in place of the library's own. A null pointer means that the variable is not
// set.
struct Authorities {
  const char* file;       // SSL_CERT_FILE
  const char* directory;  // SSL_CERT_DIR

  bool given() const { return file != nullptr || directory != nullptr; }
};
Authorities GivenAuthorities();

// An empty variable counts as not set.
const char* Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Returns HTTP_PROXY for http URLs if http_proxy is not set, and null otherwise. If REQUEST_METHOD is set, the program
// runs as a CGI, and the variable is ignored: it holds the Proxy header of the request, which the sender of the request
// chose.
const char* CapitalHttpProxy(const Url& url) {
  if (url.scheme != "http" || Variable("http_proxy") != nullptr) return nullptr;
  if (std::getenv("REQUEST_METHOD") != nullptr) return nullptr;
  return Variable("HTTP_PROXY");
}

Authorities GivenAuthorities() { return {Variable("SSL_CERT_FILE"), Variable("SSL_CERT_DIR")}; }

constexpr long kReadBytes = 64L << 10;

bool HasHeader(const Request& request, std::string_view name) {
  for (const auto* headers : {&request.headers, &request.secret_headers}) {
    for (const Header& header : *headers) {
      if (EqualsIgnoringCase(header.name, name)) return true;
    }
  }
  return false;
}

// A server may refuse a request with one of these methods that has neither a body nor "Content-Length: 0".
bool AnnouncesEmptyBody(std::string_view method) { return method == "POST" || method == "PUT" || method == "PATCH"; }

// The library sends "Name;" as a header without a value; "Name:" would remove the header.
std::string HeaderLine(const Header& header) {
  const std::string_view value = Trimmed(header.value);
  return value.empty() ? header.name + ";" : header.name + ": " + std::string(value);
}

// The library sends these headers itself: it knows the length, and it sends a body without waiting for permission.
bool IsLeftToLibrary(const Header& header) {
  return EqualsIgnoringCase(header.name, "content-length") || EqualsIgnoringCase(header.name, "expect");
}

}  // namespace

Transfer::Transfer(CurlDriver& driver, loop::Callback on_change)
    : driver_(driver), on_change_(std::move(on_change)), easy_(driver.library().easy_init()) {}

Transfer::~Transfer() {
  if (easy_ != nullptr) {
    driver_.Remove(easy_);
    driver_.library().easy_cleanup(easy_);
  }
  driver_.library().slist_free_all(header_lines_);
}

Result<> Transfer::Start(const Request& request, const Url& url) {
  if (easy_ == nullptr) return Fail(ErrorKind::kSystem, "curl_easy_init: no memory");
  SetConnection(url);
  Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
  SetAuthorities(request.ca_file);
  SetMethod(request);
  SetHeaders(request);
  SetCallbacks();
  if (setup_ != CURLE_OK) return Fail(ErrorKind::kSystem, Reason(setup_));
  return driver_.Add(easy_, [this](CURLcode code) { Finish(code); });
}

template <typename Value>
void Transfer::Set(CURLoption option, Value value) {
  const CURLcode code = driver_.library().easy_setopt(easy_, option, value);
  if (setup_ == CURLE_OK) setup_ = code;
}

// Only HTTP/1.1 is used: there each exchange has a connection of its own, so a paused exchange delays its server and no
// other exchange. The library verifies certificates by default.
void Transfer::SetConnection(const Url& url) {
  Set(CURLOPT_URL, url.Text().c_str());
  Set(CURLOPT_PROTOCOLS_STR, "http,https");
  Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  Set(CURLOPT_NOSIGNAL, 1L);
  Set(CURLOPT_BUFFERSIZE, kReadBytes);
  // A stream without a timeout must still notice that its server has vanished.
  Set(CURLOPT_TCP_KEEPALIVE, 1L);
  Set(CURLOPT_QUICK_EXIT, 1L);                // without this, cancelling waits for the resolver's answer
  Set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // the proxy's headers do not belong to the response
  Set(CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));  // the request's headers are not for the proxy
  if (const char* proxy = CapitalHttpProxy(url)) Set(CURLOPT_PROXY, proxy);
}

// The library keeps a bundle of authorities in memory, but not if there is a directory of them too. With both, which is
// its default, each connection reads the bundle again, and that stops the loop for 20 ms.
//
// A file of the request's own takes the place of the bundle, and the directory stays for the authorities of the system.
void Transfer::SetAuthorities(const std::string& ca_file) {
  const Authorities authorities = GivenAuthorities();
  if (!ca_file.empty()) {
    Set(CURLOPT_CAINFO, ca_file.c_str());
    if (authorities.directory != nullptr) Set(CURLOPT_CAPATH, authorities.directory);
    return;
  }
  if (authorities.given()) {
    Set(CURLOPT_CAINFO, authorities.file);
    Set(CURLOPT_PROXY_CAINFO, authorities.file);
  }
  if (authorities.given() || driver_.library().has_bundle) {
    Set(CURLOPT_CAPATH, authorities.directory);
    Set(CURLOPT_PROXY_CAPATH, authorities.directory);
  }
}

void Transfer::SetMethod(const Request& request) {
  const std::string_view body = request.body ? std::string_view(*request.body) : std::string_view();
  if (request.method == "HEAD") {
    Set(CURLOPT_NOBODY, 1L);
  } else if (!body.empty() || AnnouncesEmptyBody(request.method)) {
    Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    Set(CURLOPT_POSTFIELDS, body.empty() ? "" : body.data());
  }
  Set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void Transfer::SetHeaders(const Request& request) {
  for (const auto* headers : {&request.headers, &request.secret_headers}) {
    for (const Header& header : *headers) {
      if (!IsLeftToLibrary(header)) Append(HeaderLine(header));
    }
  }
  // A name without a value removes a header that the library would add.
  Append("Expect:");
  if (!HasHeader(request, "content-type")) Append("Content-Type:");
  Set(CURLOPT_HTTPHEADER, header_lines_);
}

void Transfer::Append(const std::string& header_line) {
  curl_slist* longer = driver_.library().slist_append(header_lines_, header_line.c_str());
  if (longer == nullptr) {
    setup_ = CURLE_OUT_OF_MEMORY;
  } else {
    header_lines_ = longer;
  }
}

void Transfer::SetCallbacks() {
  using Callback = size_t (*)(char*, size_t, size_t, void*);
  const Callback on_header = [](char* line, size_t, size_t size, void* self) {
    return static_cast<Transfer*>(self)->TakeHeaderLine({line, size}) ? size : 0;
  };
  const Callback on_body = [](char* bytes, size_t, size_t size, void* self) {
    return static_cast<Transfer*>(self)->Write({bytes, size});
  };
  Set(CURLOPT_HEADERFUNCTION, on_header);
  Set(CURLOPT_HEADERDATA, this);
  Set(CURLOPT_WRITEFUNCTION, on_body);
  Set(CURLOPT_WRITEDATA, this);
  Set(CURLOPT_ERRORBUFFER, error_text_.data());
}

bool Transfer::TakeHeaderLine(std::string_view line) {
  const bool was_complete = head_.complete();
  if (!head_.Take(line)) return false;
  if (head_.complete() && !was_complete) on_change_();
  return true;
}

// Returns the number of bytes that were accepted. The library ends the transfer if these are not all bytes, or pauses
// it for CURL_WRITEFUNC_PAUSE.
size_t Transfer::Write(std::string_view bytes) {
  if (!head_.complete()) return 0;
  if (discarding_) {
    discarded_bytes_ += bytes.size();
    return discarded_bytes_ <= kMaxDiscardedBytes ? bytes.size() : 0;
  }
  if (has_body() && body_.size() + bytes.size() > kMaxKeptBytes) {
    stalled_ = true;
    return CURL_WRITEFUNC_PAUSE;
  }
  body_ += bytes;
  on_change_();
  return bytes.size();
}

std::string Transfer::TakeBody() { return std::exchange(body_, {}); }

void Transfer::Continue() {
  stalled_ = false;
  const CURLcode code = driver_.library().easy_pause(easy_, CURLPAUSE_CONT);
  if (code != CURLE_OK) Finish(code);
}

void Transfer::Discard() {
  discarding_ = true;
  body_.clear();
  if (stalled_) Continue();
}

void Transfer::Finish(CURLcode code) {
  if (outcome_) return;
  if (code == CURLE_OK && head_.complete()) {
    outcome_ = Result<>();
  } else {
    outcome_ = Fail(ErrorKind::kSystem, Reason(code));
  }
  on_change_();
}

// A text with an @ is not shown, because it may contain the password of a proxy.
std::string Transfer::Reason(CURLcode code) const {
  if (!head_.fault().empty()) return head_.fault();
  if (code == CURLE_OK) return "the server sent no response";
  const std::string_view text = error_text_.data();
  if (!text.empty() && !text.contains('@')) return std::string(text);
  return driver_.library().easy_strerror(code);
}

}  // namespace holdfast::http
