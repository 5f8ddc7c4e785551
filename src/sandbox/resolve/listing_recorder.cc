#include "sandbox/resolve/listing_recorder.h"

#include <utility>

namespace holdfast::sandbox {
namespace {

// The node of the map and its bucket, and the two counts of a shared pointer, beside the listing and its path.
constexpr size_t kNodeBytes = sizeof(RememberedListings::value_type) + 5 * sizeof(void*);

size_t BytesOf(const RememberedListings::value_type& remembered) {
  const auto& [path, listing] = remembered;
  return kNodeBytes + path.size() + sizeof(RememberedListing) + listing->directories.capacity();
}

}  // namespace

ListingPointer ListingRecorder::Look(int root, const std::string& path, size_t max_entries) {
  if (!before_) return nullptr;
  const auto known = before_->find(path);
  if (known == before_->end() || !known->second->HoldsWithin(max_entries)) return nullptr;
  const std::optional<DirectorySight> sight = LookAtDirectory(root, path.c_str());
  if (!sight || sight->state != known->second->state) return nullptr;
  kept_.push_back(&*known);
  return known->second;
}

std::optional<DirectoryState> ListingRecorder::LookBeforeReading(int directory) const {
  const RememberedDirectory seen = sandbox::LookBeforeReading(directory, nullptr, memory_.now());
  return seen.is_trusted ? std::optional(seen.state) : std::nullopt;
}

void ListingRecorder::Remember(const std::string& path, ListingPointer read) { read_.emplace(path, std::move(read)); }

bool ListingRecorder::Finish() {
  const size_t before = before_ ? before_->size() : 0;
  if (read_.empty() && kept_.size() == before) return false;
  memory_.bytes = 0;
  RememberedListings listings;
  const auto add = [&](const RememberedListings::value_type& listing) {
    const size_t bytes = BytesOf(listing);
    if (memory_.bytes + bytes > memory_.max_bytes) return;
    memory_.bytes += bytes;
    listings.insert(listing);
  };
  for (const auto* kept : kept_) add(*kept);
  for (const auto& read : read_) add(read);
  memory_.listings = std::make_shared<const RememberedListings>(std::move(listings));
  return true;
}

}  // namespace holdfast::sandbox
