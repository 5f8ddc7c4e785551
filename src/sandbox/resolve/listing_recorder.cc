#include "sandbox/resolve/listing_recorder.h"

#include <algorithm>
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

void ListingRecorder::Begin(int root) {
  if (!memory_.watched) return;
  watched_ = memory_.watched->Look(root);
  notes_ = memory_.watched->IsAboutToWatch();
}

const WatchedTree::Known* ListingRecorder::KnownAt(const std::string& path) const {
  if (!watched_) return nullptr;
  const auto known = watched_->find(path);
  return known == watched_->end() ? nullptr : &known->second;
}

void ListingRecorder::Note(const std::string& path, ListingPointer listing) {
  if (notes_ && WatchedTree::MayWatch(path)) looked_at_.push_back({.path = path, .listing = std::move(listing)});
}

ListingPointer ListingRecorder::Look(int root, const std::string& path, size_t max_entries) {
  if (!before_) return nullptr;
  const auto remembered = before_->find(path);
  if (remembered == before_->end() || !remembered->second->HoldsWithin(max_entries)) return nullptr;
  const WatchedTree::Known* const known = KnownAt(path);
  if (known == nullptr || known->listing != remembered->second) {
    const std::optional<DirectorySight> sight = LookAtDirectory(root, path.c_str());
    if (!sight || sight->state != remembered->second->state) return nullptr;
  }
  kept_.push_back(&*remembered);
  Note(path, remembered->second);
  return remembered->second;
}

GitProbe ListingRecorder::Probe(int root, const std::string& path) {
  if (const WatchedTree::Known* const known = KnownAt(path)) return known->probe;
  Note(path, nullptr);
  return ProbeForGit(root, path);
}

std::optional<DirectoryState> ListingRecorder::LookBeforeReading(int directory) const {
  const RememberedDirectory seen = sandbox::LookBeforeReading(directory, nullptr, memory_.now());
  return seen.is_trusted ? std::optional(seen.state) : std::nullopt;
}

void ListingRecorder::Remember(const std::string& path, ListingPointer read) { read_.emplace(path, std::move(read)); }

// The top is read again after each sandbox, because placeholders are made and removed there.
bool ListingRecorder::Finish(int root) {
  const bool is_unchanged =
      std::ranges::none_of(read_, [](const auto& read) { return WatchedTree::MayWatch(read.first); });
  if (memory_.watched && !is_unchanged) memory_.watched->NoteChanged();
  if (memory_.watched && is_unchanged) memory_.watched->NoteUnchanged(root, looked_at_);
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
