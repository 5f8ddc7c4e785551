// The proofs of two nodes, without any I/O.
#include "rendezvous/link/link_proof.h"

#include <functional>

#include <gtest/gtest.h>

namespace holdfast::rendezvous {
namespace {

constexpr char kKey[] = "the key of the bucket";

const LinkTerms kTerms{.node = "n",
                       .url = "https://a:1",
                       .watch = "w",
                       .executor = "build-1",
                       .dialler_nonce = "d",
                       .acceptor_nonce = "a",
                       .channel_binding = "c"};

TEST(LinkProofTest, IsAcceptedForItsTermsOnly) {
  for (const LinkRole role : {LinkRole::kDialler, LinkRole::kAcceptor}) {
    const std::string proof = LinkProof(role, kTerms, kKey);
    EXPECT_EQ(proof.size(), kLinkProofBytes);
    EXPECT_TRUE(IsLinkProof(proof, role, kTerms, kKey));
    for (std::string LinkTerms::* term :
         {&LinkTerms::node, &LinkTerms::url, &LinkTerms::watch, &LinkTerms::executor, &LinkTerms::dialler_nonce,
          &LinkTerms::acceptor_nonce, &LinkTerms::channel_binding}) {
      for (const char* other : {"", "x", "n\",\"url\":\""}) {
        LinkTerms changed = kTerms;
        changed.*term = other;
        EXPECT_FALSE(IsLinkProof(proof, role, changed, kKey)) << other;
      }
    }
  }
}

TEST(LinkProofTest, IsNotThatOfTheOtherSide) {
  EXPECT_FALSE(IsLinkProof(LinkProof(LinkRole::kDialler, kTerms, kKey), LinkRole::kAcceptor, kTerms, kKey));
  EXPECT_FALSE(IsLinkProof(LinkProof(LinkRole::kAcceptor, kTerms, kKey), LinkRole::kDialler, kTerms, kKey));
}

TEST(LinkProofTest, TermsDoNotRunIntoEachOther) {
  LinkTerms shifted = kTerms;
  shifted.watch = "wb";
  shifted.executor = "uild-1";
  EXPECT_NE(LinkProof(LinkRole::kDialler, shifted, kKey), LinkProof(LinkRole::kDialler, kTerms, kKey));
}

TEST(LinkProofTest, NeedsTheKey) {
  const std::string proof = LinkProof(LinkRole::kDialler, kTerms, kKey);
  EXPECT_FALSE(IsLinkProof(proof, LinkRole::kDialler, kTerms, "another key"));
  EXPECT_FALSE(IsLinkProof(LinkProof(LinkRole::kDialler, kTerms, ""), LinkRole::kDialler, kTerms, ""));
}

TEST(LinkProofTest, NothingElseIsAccepted) {
  const std::string proof = LinkProof(LinkRole::kDialler, kTerms, kKey);
  for (const std::string& given : {std::string(), proof.substr(1), proof + "x", std::string(kLinkProofBytes, '\0')}) {
    EXPECT_FALSE(IsLinkProof(given, LinkRole::kDialler, kTerms, kKey));
  }
}

}  // namespace
}  // namespace holdfast::rendezvous
