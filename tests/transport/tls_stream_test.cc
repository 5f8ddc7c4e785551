// These tests let the two ends of a TLS connection talk to each other, over sockets that pass on few bytes at a time.
#include "transport/tls_stream.h"

#include <openssl/ssl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "support/test_certificate.h"
#include "transport/raw_tls_peer.h"

namespace holdfast::transport {
namespace {

using Step = TlsStream::Step;

ssize_t WriteAll(ByteStream& stream, std::string_view text) {
  const iovec bytes{const_cast<char*>(text.data()), text.size()};
  return stream.Write(std::span(&bytes, 1));
}

// A client and a server whose sockets lead to this object, which passes bytes on when it is told to.
class TlsStreamTest : public testing::Test {
 protected:
  TlsStreamTest() {
    auto to_client = MakeSockets(), to_server = MakeSockets();
    client_end_ = std::move(to_client.left);
    server_end_ = std::move(to_server.left);
    const auto client_context = TlsContext::ForClient(certificate_.certificate_file());
    const auto server_context = TlsContext::ForServer(certificate_.certificate_file(), certificate_.key_file());
    client_ = TlsStream::Connect(*client_context, std::move(to_client.right), "localhost");
    server_ = TlsStream::Accept(*server_context, std::move(to_server.right));
  }

  // Passes on at most `most` bytes in each direction. Returns whether there were any.
  bool Relay(size_t most) {
    const bool forth = Pass(client_end_.get(), server_end_.get(), most);
    return Pass(server_end_.get(), client_end_.get(), most) || forth;
  }

  static bool Pass(int from, int to, size_t most) {
    std::string bytes(most, '\0');
    const ssize_t count = ::recv(from, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    return ::send(to, bytes.data(), static_cast<size_t>(count), MSG_NOSIGNAL) == count;
  }

  void ShakeHands(size_t bytes_at_a_time) {
    Step step = Step::kWaits;
    while (step == Step::kWaits) {
      step = client_->Handshake();
      (void)ReadAvailable(*server_);
      if (step == Step::kWaits && !Relay(bytes_at_a_time)) break;
    }
    ASSERT_EQ(step, Step::kDone) << client_->failure().message;
    while (Relay(1000)) (void)ReadAvailable(*server_);
  }

  const support::TestCertificate certificate_;
  OwnedFd client_end_, server_end_;
  std::unique_ptr<TlsStream> client_, server_;
};

TEST_F(TlsStreamTest, ShakesHandsByteByByte) {
  ShakeHands(1);
  ASSERT_EQ(WriteAll(*client_, "hello"), 5);
  std::string received;
  while (Relay(1)) received += ReadAvailable(*server_);
  EXPECT_EQ(received, "hello");
}

TEST_F(TlsStreamTest, SplitsNothingWhereverTheBytesAreSplit) {
  ShakeHands(1000);
  const std::string text = "a text of one record";
  for (size_t first = 1; first < text.size() + 22; ++first) {
    ASSERT_EQ(WriteAll(*server_, text), static_cast<ssize_t>(text.size()));
    ASSERT_TRUE(Relay(first));
    const std::string early = ReadAvailable(*client_);
    while (Relay(1000)) continue;
    ASSERT_EQ(early + ReadAvailable(*client_), text) << first;
  }
}

// A write that the socket does not accept as a whole is reported by the call that sends the rest.
TEST_F(TlsStreamTest, ReportsBytesWhenTheSocketHasThem) {
  const int small = 4096;
  ASSERT_EQ(::setsockopt(client_->fd(), SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
  ShakeHands(1000);
  std::string text(1'000'000, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
  std::string received;
  bool waited = false;
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t count = WriteAll(*client_, rest);
    ASSERT_TRUE(count > 0 || errno == EAGAIN);
    EXPECT_EQ(client_->has_unsent(), count < 0);
    if (count > 0) rest.remove_prefix(static_cast<size_t>(count));
    waited = waited || count < 0;
    while (Relay(5'000)) received += ReadAvailable(*server_);
  }
  while (Relay(5'000)) received += ReadAvailable(*server_);
  EXPECT_TRUE(waited);
  EXPECT_TRUE(received == text);
}

TEST_F(TlsStreamTest, GathersManyPieces) {
  ShakeHands(1000);
  std::string pieces = "abcdefghij";
  std::array<iovec, 10> vectors;
  for (size_t i = 0; i < vectors.size(); ++i) vectors[i] = {&pieces[i], 1};
  ASSERT_EQ(client_->Write(vectors), 10);
  ASSERT_TRUE(Relay(10 + 22));
  EXPECT_EQ(ReadAvailable(*server_), pieces);  // they are in one record
}

TEST_F(TlsStreamTest, TellsAnOrderlyEndFromACutConnection) {
  ShakeHands(1000);
  client_->EndWriting();
  while (Relay(1000)) continue;
  EXPECT_EQ(ReadAvailable(*server_), "<end>");
  ::shutdown(client_end_.get(), SHUT_WR);
  EXPECT_EQ(ReadAvailable(*client_), "<error>");
}

TEST_F(TlsStreamTest, RefusesChangedBytes) {
  ShakeHands(1000);
  ASSERT_EQ(WriteAll(*client_, "hello"), 5);
  std::array<char, 100> sealed;
  const ssize_t count = ::recv(client_end_.get(), sealed.data(), sealed.size(), 0);
  ASSERT_GT(count, 10);
  sealed[static_cast<size_t>(count) - 1] ^= 1;
  ASSERT_EQ(::send(server_end_.get(), sealed.data(), static_cast<size_t>(count), 0), count);
  EXPECT_EQ(ReadAvailable(*server_), "<error>");
}

constexpr size_t kRecordBytes = 16u << 10;

// The role is that of the TlsStream. Both ends pad their records to the full length, so that a few KeyUpdates are as
// long as thousands of short ones, which take more time.
enum class TlsRole { kClient, kServer };

class TlsFloodTest : public testing::TestWithParam<TlsRole> {
 protected:
  TlsFloodTest() {
    auto sockets = MakeSockets();
    const auto client = TlsContext::ForClient(certificate_.certificate_file());
    const auto server = TlsContext::ForServer(certificate_.certificate_file(), certificate_.key_file());
    for (const auto* context : {&client, &server}) ::SSL_CTX_set_block_padding((*context)->get(), kRecordBytes);
    const bool is_client = GetParam() == TlsRole::kClient;
    stream_ = is_client ? TlsStream::Connect(*client, std::move(sockets.left), "localhost")
                        : TlsStream::Accept(*server, std::move(sockets.left));
    peer_ = std::make_unique<RawPeer>(is_client ? *server : *client, std::move(sockets.right));
    is_client ? ::SSL_set_accept_state(peer_->ssl()) : ::SSL_set_connect_state(peer_->ssl());
    peer_->ShakeHandsWith(*stream_);
  }

  const support::TestCertificate certificate_;
  std::unique_ptr<TlsStream> stream_;
  std::unique_ptr<RawPeer> peer_;
};

TEST_P(TlsFloodTest, LeavesTheRestOfManyKeyUpdatesForALaterTurn) {
  peer_->UpdateKey(6);
  const size_t sent = peer_->Send();
  std::array<char, 100> chunk;
  EXPECT_EQ(stream_->Read(chunk), -1);
  EXPECT_EQ(errno, EAGAIN);
  int left = 0;
  ASSERT_EQ(::ioctl(stream_->fd(), FIONREAD, &left), 0);
  EXPECT_EQ(sent - static_cast<size_t>(left), 64u << 10);
}

TEST_P(TlsFloodTest, FailsAfterTooManyKeyUpdatesWithoutData) {
  std::string outcome;
  size_t sent = 0;
  while (outcome.empty() && sent < 1'000'000) {
    peer_->UpdateKey(4);
    sent += peer_->Send();
    outcome = ReadAvailable(*stream_);
    while (::recv(peer_->fd(), std::array<char, 4096>().data(), 4096, 0) > 0) continue;
  }
  EXPECT_EQ(outcome, "<error>");
  EXPECT_EQ(stream_->failure().message, "it sends messages of TLS without end");
}

TEST_P(TlsFloodTest, AllowsKeyUpdatesBetweenData) {
  for (int round = 0; round < 20; ++round) {
    peer_->UpdateKey(2);
    ASSERT_EQ(::SSL_write(peer_->ssl(), "x", 1), 1);
    (void)peer_->Send();
    ASSERT_EQ(ReadAvailable(*stream_), "x");
    while (::recv(peer_->fd(), std::array<char, 4096>().data(), 4096, 0) > 0) continue;
  }
}

TEST_P(TlsFloodTest, FailsWhenThePeerReadsNoAnswers) {
  std::string outcome = "x";
  size_t sent = 0;
  while (outcome == "x" && sent < 4'000'000) {
    peer_->UpdateKey(2);
    ASSERT_EQ(::SSL_write(peer_->ssl(), "x", 1), 1);
    sent += peer_->Send();
    outcome = ReadAvailable(*stream_);
  }
  EXPECT_TRUE(outcome.ends_with("<error>")) << outcome;
}

INSTANTIATE_TEST_SUITE_P(Roles, TlsFloodTest, testing::Values(TlsRole::kClient, TlsRole::kServer));

}  // namespace
}  // namespace holdfast::transport
