// Every method and every notification of the protocol.
#pragma once

#include "wire/capability_messages.h"
#include "wire/environment_config_messages.h"
#include "wire/exec_policy_messages.h"
#include "wire/field_types.h"
#include "wire/fs_handle_messages.h"
#include "wire/fs_messages.h"
#include "wire/fs_tree_messages.h"
#include "wire/http_messages.h"
#include "wire/installed_messages.h"
#include "wire/method.h"
#include "wire/process_control_messages.h"
#include "wire/process_list_messages.h"
#include "wire/process_messages.h"
#include "wire/process_notification_messages.h"
#include "wire/process_start_messages.h"
#include "wire/process_wait_messages.h"
#include "wire/sandbox_messages.h"
#include "wire/session_messages.h"
#include "wire/shared_session_messages.h"
#include "wire/shared_session_notifications.h"

namespace holdfast::wire {

struct Initialize : Method<"initialize", InitializeParams, InitializeResult, Caller::kDriverOrObserver> {};

struct GetEnvironmentInfo : Method<"environment/info", EnvironmentParams, EnvironmentInfo, Caller::kDriverOrObserver> {
};
struct GetEnvironmentStatus
    : Method<"environment/status", EnvironmentParams, EnvironmentStatusResult, Caller::kDriverOrObserver> {};

struct ProcessStart : Method<"process/start", ProcessStartParams, ProcessStartResult> {};
struct ProcessRead : Method<"process/read", ProcessReadParams, ProcessReadResult, Caller::kDriverOrObserver> {};
struct ProcessWrite : Method<"process/write", ProcessWriteParams, ProcessWriteResult> {};
struct ProcessCloseStdin : Method<"process/closeStdin", ProcessIdParams, Empty> {};
struct ProcessResize : Method<"process/resize", ProcessResizeParams, Empty> {};
struct ProcessSignal : Method<"process/signal", ProcessSignalParams, Empty> {};
struct ProcessTerminate : Method<"process/terminate", ProcessTerminateParams, ProcessTerminateResult> {};
struct ProcessWait : Method<"process/wait", ProcessWaitParams, ProcessWaitResult, Caller::kDriverOrObserver> {};
struct ProcessSnapshot : Method<"process/snapshot", ProcessIdParams, ProcessSnapshotResult, Caller::kDriverOrObserver> {
};
struct ProcessList : Method<"process/list", ProcessListParams, ProcessListResult, Caller::kDriverOrObserver> {};

struct FsReadFile : Method<"fs/readFile", Sandboxed<FsFollowParams>, FsReadFileResult, Caller::kDriverOrObserver> {};
struct FsGetMetadata
    : Method<"fs/getMetadata", Sandboxed<FsFollowParams>, FsGetMetadataResult, Caller::kDriverOrObserver> {};
struct FsCanonicalize
    : Method<"fs/canonicalize", Sandboxed<FsPathParams>, FsCanonicalizeResult, Caller::kDriverOrObserver> {};
struct FsReadDirectory
    : Method<"fs/readDirectory", Sandboxed<FsPathParams>, FsReadDirectoryResult, Caller::kDriverOrObserver> {};
struct FsWalk : Method<"fs/walk", Sandboxed<FsWalkParams>, FsWalkResult, Caller::kDriverOrObserver> {};
struct FsWriteFile : Method<"fs/writeFile", Sandboxed<FsWriteFileParams>, Empty> {};
struct FsCreateDirectory : Method<"fs/createDirectory", Sandboxed<FsCreateDirectoryParams>, Empty> {};
struct FsRemove : Method<"fs/remove", Sandboxed<FsRemoveParams>, Empty> {};
struct FsCopy : Method<"fs/copy", Sandboxed<FsCopyParams>, Empty> {};
struct FsRename : Method<"fs/rename", Sandboxed<FsRenameParams>, Empty> {};
// An observer may open files for reading only, which the handler checks.
struct FsOpen : Method<"fs/open", Sandboxed<FsOpenParams>, FsHandle, Caller::kDriverOrObserver> {};
struct FsReadBlock : Method<"fs/readBlock", FsReadBlockParams, FsReadBlockResult, Caller::kDriverOrObserver> {};
struct FsWriteBlock : Method<"fs/writeBlock", FsWriteBlockParams, Empty> {};
struct FsClose : Method<"fs/close", FsHandle, Empty, Caller::kDriverOrObserver> {};
struct FsWatchMissing : Method<"fs/watchMissing", Sandboxed<FsWatchMissingParams>, FsWatchMissingResult> {};

struct DiscoverRoots
    : Method<"capabilityRoots/discoverV1", DiscoverRootsParams, DiscoverRootsResult, Caller::kDriverOrObserver> {};
struct DiscoverCapabilities : Method<"capabilities/discoverV2", Sandboxed<DiscoverCapabilitiesParams>,
                                     DiscoverCapabilitiesResult, Caller::kDriverOrObserver> {};
struct ReadEnvironmentConfig : Method<"environmentConfig/read", ReadEnvironmentConfigParams,
                                      ReadEnvironmentConfigResult, Caller::kDriverOrObserver> {};

struct HttpRequest : Method<"http/request", Sandboxed<HttpRequestParams>, HttpRequestResult> {};

struct SessionTakeOver : Method<"session/takeOver", SessionParams, SessionTakeOverResult, Caller::kDriverOrObserver> {};
struct SessionKeep : Method<"session/keep", SessionKeepParams, Empty> {};
struct SessionList : Method<"session/list", SessionParams, SessionListResult, Caller::kDriverOrObserver> {};
struct SessionEnd : Method<"session/end", SessionEndParams, Empty> {};

// The method that a server calls. Only the client that drives the session is asked.
struct ExecApprove : Method<"exec/approve", ExecApproveParams, ExecApproveResult> {};

// The notification that a client sends.
struct Initialized : Notification<"initialized", InitializedParams> {};

// The notifications that a server sends.
struct ProcessOutput : Notification<"process/output", ProcessOutputParams> {};
struct ProcessExited : Notification<"process/exited", ProcessExitedParams> {};
struct ProcessClosed : Notification<"process/closed", ProcessClosedParams> {};
struct ProcessStarted : Notification<"process/started", ProcessStartedParams> {};
struct ProcessFailed : Notification<"process/failed", ProcessFailedParams> {};
struct ProcessOutputLost : Notification<"process/outputLost", ProcessOutputLostParams> {};
struct SessionRoleChanged : Notification<"session/roleChanged", SessionRoleChangedParams> {};
struct SessionEnded : Notification<"session/ended", SessionEndedParams> {};
struct HttpBodyDelta : Notification<"http/request/bodyDelta", HttpBodyDeltaParams> {};
struct FsMissingChanged : Notification<"fs/missingChanged", FsMissingChangedParams> {};

}  // namespace holdfast::wire
