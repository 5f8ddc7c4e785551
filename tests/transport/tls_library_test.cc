#include "transport/tls_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/tls_context.h"

namespace holdfast::transport {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(TlsLibraryTest, NamesThePackageThatIsMissing) {
  const auto loaded = TlsLibrary::Load("libssl-of-nobody.so");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, AllOf(HasSubstr("libssl-of-nobody.so"), HasSubstr("package libssl3")));
}

TEST(TlsLibraryTest, NamesAFunctionThatTheLibraryLacks) {
  const auto loaded = TlsLibrary::Load("libm.so.6");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("libm.so.6: it has no SSL_CTX_new"));
}

TEST(TlsLibraryTest, IsUsableAfterAFailure) {
  EXPECT_FALSE(TlsLibrary::Load("libssl-of-nobody.so"));
  EXPECT_TRUE(TlsContext::ForClient(""));
  EXPECT_NE(Tls().context_new, nullptr);
}

}  // namespace
}  // namespace holdfast::transport
