"""The messages of the protocol as typed dictionaries, its error codes, and a method for each of its methods.

tools/generate_sdk has made this file from docs/openrpc.json."""

from typing import Any, Literal, NotRequired, TypedDict

NOT_JSON = -32700  # The message is not JSON.
INVALID_REQUEST = -32600  # The request is not possible now: a limit, a denied file, an unknown process or session, or a wrong order.
UNKNOWN_METHOD = -32601  # There is no such method.
INVALID_PARAMS = -32602  # The params cannot be decoded, or ask for something impossible.
FAILED = -32603  # The operation failed: a system call, an HTTP request, or the start of a command.
NOT_FOUND = -32004  # The file or the file handle does not exist.
SESSION_ATTACHED = -32010  # The session is attached to another connection, which answers.

# The methods that a connection may call which only observes a session.
OBSERVER_METHODS = frozenset({
    "initialize",
    "environment/info",
    "environment/status",
    "process/read",
    "process/wait",
    "process/snapshot",
    "process/list",
    "fs/readFile",
    "fs/getMetadata",
    "fs/canonicalize",
    "fs/readDirectory",
    "fs/walk",
    "fs/open",
    "fs/readBlock",
    "fs/close",
    "capabilityRoots/discoverV1",
    "capabilities/discoverV2",
    "environmentConfig/read",
    "session/takeOver",
    "session/list",
})


class CapabilityFile(TypedDict):
    path: str
    contents: str


class CapabilityRoot(TypedDict):
    id: str
    path: str


class ClientCapabilities(TypedDict):
    lifecycle: NotRequired[bool]
    maxMessageBytes: NotRequired[int | None]


class ConfigLayer(TypedDict):
    source: str
    baseDir: str
    toml: str


class ConfigLayers(TypedDict):
    layers: list[ConfigLayer]
    cloudInsertionIndex: int


class SkillPolicy(TypedDict):
    allowImplicitInvocation: bool | None
    products: list[str]


class ToolDependency(TypedDict):
    type: str
    value: str
    description: str | None
    transport: str | None
    command: str | None
    url: str | None
    oauthCallbackPort: int | None


class SkillDependencies(TypedDict):
    tools: list[ToolDependency]


class Skill(TypedDict):
    name: str
    description: str
    shortDescription: str | None
    path: str
    discoveryRoot: NotRequired[CapabilityRoot]
    dependencies: SkillDependencies | None
    policy: SkillPolicy | None


class PluginFiles(TypedDict):
    manifest: CapabilityFile
    mcpConfig: CapabilityFile | None
    appsConfig: CapabilityFile | None


class Plugin(TypedDict):
    id: str
    displayName: str
    remotePluginId: str | None
    version: str
    root: str
    files: PluginFiles
    skills: list[Skill]


class DiscoverCapabilitiesResult(TypedDict):
    plugins: list[Plugin]
    skills: list[Skill]
    warnings: list[str]


class PolicyContext(TypedDict):
    cwd: NotRequired[str | None]
    workspaceRoots: NotRequired[list[str] | None]


WindowsSandboxLevel = Literal["disabled", "restricted-token", "elevated"]


class Sandbox(TypedDict):
    # One of these has to be there: permissions, windowsSandboxLevel; sandboxPolicy; type.
    permissions: NotRequired[dict[str, Any]]
    sandboxPolicy: NotRequired[dict[str, Any]]
    type: NotRequired[str]
    windowsSandboxLevel: NotRequired[WindowsSandboxLevel]
    cwd: NotRequired[str | None]
    workspaceRoots: NotRequired[list[str] | None]
    policyContext: NotRequired[PolicyContext | None]
    useLegacyLandlock: NotRequired[bool | None]


class SandboxedCapabilityRoot(TypedDict):
    id: str
    path: str
    sandbox: NotRequired[Sandbox | None]


class DiscoverRootsParams(TypedDict):
    roots: list[SandboxedCapabilityRoot]


class SkillFiles(TypedDict):
    instructions: CapabilityFile
    metadata: CapabilityFile | None


class DiscoveredRoot(TypedDict):
    id: str
    path: str
    plugin: PluginFiles | None
    skills: list[SkillFiles]
    namespaceManifests: list[CapabilityFile]
    warnings: list[str]
    error: str | None


class DiscoverRootsResult(TypedDict):
    roots: list[DiscoveredRoot]


class DroppedOutput(TypedDict):
    seq: int
    bytes: int


class Empty(TypedDict):
    pass


EndCause = Literal["wall", "session-ended", "server-stopped"]


Inherit = Literal["all", "core", "none"]


class EnvPolicy(TypedDict):
    inherit: Inherit
    ignoreDefaultExcludes: bool
    exclude: list[str]
    set: dict[str, str]
    includeOnly: list[str]


class EnvironmentCapabilities(TypedDict):
    fsWatchMissing: bool
    httpHeaderEnvVars: bool
    fileWriteStreaming: bool
    sandboxedFileStreaming: bool
    capabilityDiscoverySandbox: bool
    capabilityDiscoveryV2: bool
    environmentConfigRead: bool
    linuxRootWritePreservesDevices: bool
    linuxApprovedRootWritePreservesRestrictions: bool
    execPolicy: bool
    fileUpdate: bool
    limits: list[str]


class Shell(TypedDict):
    name: str
    path: str


class EnvironmentInfo(TypedDict):
    shell: Shell
    executorVersion: str
    providerId: NotRequired[str]
    cwd: str
    userHomeDir: str
    platformOs: str
    prependPathDirs: list[str]
    temporaryDirectories: list[str]
    tempDir: str
    capabilities: EnvironmentCapabilities


class EnvironmentParams(TypedDict):
    pass


class EnvironmentStatusResult(TypedDict):
    status: str


ExecDecision = Literal["run", "escalate", "deny"]


class ExecApproveParams(TypedDict):
    processId: str
    file: str
    argv: list[str]
    cwd: str
    reason: str
    rule: str
    env: dict[str, str]
    proposed: ExecDecision


class ExecApproveResult(TypedDict):
    decision: ExecDecision
    reason: NotRequired[str | None]


class ExecPolicy(TypedDict):
    rules: list[str]
    strict: NotRequired[bool]


class FsCanonicalizeResult(TypedDict):
    path: str


class FsDirectoryEntry(TypedDict):
    fileName: str
    isDirectory: bool
    isFile: bool


class FsGetMetadataResult(TypedDict):
    isDirectory: bool
    isFile: bool
    isSymlink: bool
    size: int
    createdAtMs: int
    modifiedAtMs: int
    permissions: NotRequired[int]


class FsHandle(TypedDict):
    handleId: str


class FsMissingChangedParams(TypedDict):
    watchId: int


FsOpenMode = Literal["read", "replace", "update"]


class FsReadBlockParams(TypedDict):
    handleId: str
    offset: int
    len: int


class FsReadBlockResult(TypedDict):
    chunk: str  # base64
    eof: bool


class FsReadDirectoryResult(TypedDict):
    entries: list[FsDirectoryEntry]


class FsReadFileResult(TypedDict):
    dataBase64: str  # base64


WalkedKind = Literal["directory", "file"]


class FsWalkEntry(TypedDict):
    path: str
    kind: WalkedKind


class FsWalkError(TypedDict):
    path: str
    message: str


class FsWalkOptions(TypedDict):
    maxDepth: int
    maxDirectories: int
    maxEntries: int
    followDirectorySymlinks: bool
    pruneHiddenDirectories: NotRequired[bool | None]


class FsWalkResult(TypedDict):
    entries: list[FsWalkEntry]
    errors: list[FsWalkError]
    truncated: bool


class FsWatchMissingResult(TypedDict):
    watching: bool


class FsWriteBlockParams(TypedDict):
    handleId: str
    offset: int
    chunk: str  # base64


class HttpBodyDeltaParams(TypedDict):
    requestId: str
    seq: int
    deltaBase64: str  # base64
    done: bool
    error: str | None


class HttpHeader(TypedDict):
    name: str
    value: str


class HttpRequestHeader(TypedDict):
    name: str
    value: str
    valueEnvVar: NotRequired[str | None]


class HttpRequestResult(TypedDict):
    status: int
    headers: list[HttpHeader]
    bodyBase64: str  # base64


SessionRole = Literal["driver", "observer"]


class InitializeParams(TypedDict):
    clientName: str
    resumeSessionId: NotRequired[str | None]
    capabilities: NotRequired[ClientCapabilities | None]
    sessionName: NotRequired[str | None]
    shared: NotRequired[bool | None]
    role: NotRequired[SessionRole | None]
    detachedTtlMs: NotRequired[int | None]


class InitializeResult(TypedDict):
    sessionId: str
    environmentInfo: NotRequired[EnvironmentInfo]
    sessionName: NotRequired[str]
    role: NotRequired[SessionRole]


class InitializedParams(TypedDict):
    pass


class Limits(TypedDict):
    wallMs: NotRequired[int | None]


class ListedSandbox(TypedDict):
    files: str
    network: bool
    write: list[str]
    deny: list[str]


class ProcessEnd(TypedDict):
    cause: NotRequired[EndCause]


ProcessState = Literal["starting", "running", "exited", "closed"]


class ListedProcess(TypedDict):
    processId: str
    argv: list[str]
    pid: int | None
    state: ProcessState
    exitCode: int | None
    end: NotRequired[ProcessEnd]
    startedAtMs: int
    exitedAtMs: int | None
    outputBytes: int
    inputBytes: int
    cwd: NotRequired[str]
    sandbox: NotRequired[ListedSandbox]
    rules: NotRequired[list[str]]
    signal: NotRequired[str]


class ListedSession(TypedDict):
    sessionId: str
    sessionName: NotRequired[str]
    shared: bool
    role: NotRequired[SessionRole]
    connections: int
    driver: NotRequired[str]
    createdAtMs: int
    detachedTtlMs: NotRequired[int]
    processes: list[ListedProcess]


class ManagedNetwork(TypedDict):
    loopbackPorts: NotRequired[list[int] | None]
    allowLocalBinding: NotRequired[bool | None]


Stream = Literal["stdout", "stderr", "pty"]


class OutputChunk(TypedDict):
    seq: int
    stream: Stream
    chunk: str  # base64


StdinMode = Literal["open", "closed"]


class PipeIo(TypedDict):
    stdin: StdinMode


class PreparedCommand(TypedDict):
    program: str
    argv: list[str]
    env: dict[str, str]
    cwd: str
    arg0: NotRequired[str | None]


class ProcessClosedParams(TypedDict):
    processId: str
    seq: int


class ProcessExitedParams(TypedDict):
    processId: str
    seq: int
    exitCode: int
    sandboxDenied: bool
    end: NotRequired[ProcessEnd]


class ProcessFailedParams(TypedDict):
    processId: str
    message: str


class ProcessIdParams(TypedDict):
    processId: str


class PtyIo(TypedDict):
    rows: int
    cols: int


class ProcessIo(TypedDict):
    # One of these has to be there: pty; pipe.
    pty: NotRequired[PtyIo | None]
    pipe: NotRequired[PipeIo | None]


class ProcessListParams(TypedDict):
    pass


class ProcessListResult(TypedDict):
    processes: list[ListedProcess]
    truncated: bool


class ProcessOutputLostParams(TypedDict):
    processId: str
    fromSeq: int
    toSeq: int


class ProcessOutputParams(TypedDict):
    processId: str
    seq: int
    stream: Stream
    chunk: str  # base64


class ProcessReadParams(TypedDict):
    processId: str
    afterSeq: NotRequired[int | None]
    maxBytes: NotRequired[int | None]
    waitMs: NotRequired[int | None]


class ProcessReadResult(TypedDict):
    chunks: list[OutputChunk]
    nextSeq: int
    exited: bool
    exitCode: int | None
    closed: bool
    failure: str | None
    sandboxDenied: bool
    end: NotRequired[ProcessEnd]
    dropped: NotRequired[DroppedOutput]


class ProcessResizeParams(TypedDict):
    processId: str
    rows: int
    cols: int


class ProcessSignalParams(TypedDict):
    processId: str
    signal: str


class ProcessSnapshotResult(TypedDict):
    stdout: str  # base64
    stderr: str  # base64
    terminal: str  # base64
    truncated: bool
    omittedBytes: int
    exitCode: int | None
    running: bool


class ProcessStartParams(TypedDict):
    # One of these has to be there: argv, cwd, env; prepared.
    # One of these has to be there: tty; io.
    processId: str
    prepared: NotRequired[PreparedCommand | None]
    io: NotRequired[ProcessIo | None]
    argv: NotRequired[list[str]]
    cwd: NotRequired[str]
    env: NotRequired[dict[str, str]]
    tty: NotRequired[bool]
    pipeStdin: NotRequired[bool]
    arg0: NotRequired[str | None]
    envPolicy: NotRequired[EnvPolicy | None]
    enforceManagedNetwork: NotRequired[bool]
    sandbox: NotRequired[Sandbox | None]
    managedNetwork: NotRequired[ManagedNetwork | None]
    execPolicy: NotRequired[ExecPolicy | None]
    limits: NotRequired[Limits | None]
    networkProxy: NotRequired[None]
    shellSnapshot: NotRequired[None]


SandboxType = Literal["none", "linuxSeccomp", "macosSeatbelt", "windowsRestrictedToken"]


class ProcessStartResult(TypedDict):
    processId: str
    sandboxType: SandboxType


class ProcessStartedParams(TypedDict):
    processId: str
    pid: int


TerminateMode = Literal["force"] | dict[str, Any]


class ProcessTerminateParams(TypedDict):
    processId: str
    mode: NotRequired[TerminateMode | None]


class ProcessTerminateResult(TypedDict):
    running: bool


class ProcessWaitParams(TypedDict):
    processId: str
    timeoutMs: NotRequired[int | None]


class ProcessWaitResult(TypedDict):
    exited: bool
    exitCode: int | None
    closed: bool
    timedOut: bool
    sandboxDenied: bool
    end: NotRequired[ProcessEnd]


class ProcessWriteParams(TypedDict):
    processId: str
    chunk: str  # base64
    writeId: NotRequired[str | None]


WriteStatus = Literal["accepted", "unknownProcess", "stdinClosed", "starting"]


class ProcessWriteResult(TypedDict):
    status: WriteStatus


class ReadEnvironmentConfigParams(TypedDict):
    cwd: str
    configPaths: list[list[str]]
    requirementsPaths: list[list[str]]


class ReadEnvironmentConfigResult(TypedDict):
    userHomeDir: str
    codexHomeDir: str
    hostname: str
    config: ConfigLayers
    requirements: ConfigLayers


RedirectPolicy = Literal["follow", "stop"]


class SandboxedDiscoverCapabilitiesParams(TypedDict):
    cwd: str
    sandbox: NotRequired[Sandbox | None]


class SandboxedFsCopyParams(TypedDict):
    sourcePath: str
    destinationPath: str
    recursive: bool
    sandbox: NotRequired[Sandbox | None]


class SandboxedFsCreateDirectoryParams(TypedDict):
    path: str
    followSymlinks: NotRequired[bool | None]
    recursive: NotRequired[bool | None]
    sandbox: NotRequired[Sandbox | None]


class SandboxedFsFollowParams(TypedDict):
    path: str
    followSymlinks: NotRequired[bool | None]
    sandbox: NotRequired[Sandbox | None]


class SandboxedFsOpenParams(TypedDict):
    handleId: str
    path: str
    followSymlinks: NotRequired[bool | None]
    mode: NotRequired[FsOpenMode | None]
    size: NotRequired[int | None]
    permissions: NotRequired[int | None]
    modifiedAtMs: NotRequired[int | None]
    sandbox: NotRequired[Sandbox | None]


class SandboxedFsPathParams(TypedDict):
    path: str
    sandbox: NotRequired[Sandbox | None]


class SandboxedFsRemoveParams(TypedDict):
    path: str
    followSymlinks: NotRequired[bool | None]
    recursive: NotRequired[bool | None]
    force: NotRequired[bool | None]
    sandbox: NotRequired[Sandbox | None]


class SandboxedFsRenameParams(TypedDict):
    sourcePath: str
    destinationPath: str
    replace: NotRequired[bool | None]
    sandbox: NotRequired[Sandbox | None]


class SandboxedFsWalkParams(TypedDict):
    path: str
    options: FsWalkOptions
    sandbox: NotRequired[Sandbox | None]


class SandboxedFsWatchMissingParams(TypedDict):
    watchId: int
    missing: list[str]
    present: NotRequired[str | None]
    sandbox: NotRequired[Sandbox | None]


class SandboxedFsWriteFileParams(TypedDict):
    path: str
    followSymlinks: NotRequired[bool | None]
    dataBase64: str  # base64
    atomic: NotRequired[bool | None]
    expectedSha256: NotRequired[str | None]
    sandbox: NotRequired[Sandbox | None]


class SandboxedHttpRequestParams(TypedDict):
    requestId: str
    method: str
    url: str
    headers: NotRequired[list[HttpRequestHeader]]
    bodyBase64: NotRequired[str | None]  # base64
    timeoutMs: NotRequired[int | None]
    redirectPolicy: NotRequired[RedirectPolicy | None]
    streamResponse: NotRequired[bool]
    sandbox: NotRequired[Sandbox | None]


class SessionEndParams(TypedDict):
    sessionId: NotRequired[str | None]
    sessionName: NotRequired[str | None]


class SessionEndedParams(TypedDict):
    sessionId: str


class SessionKeepParams(TypedDict):
    detachedTtlMs: NotRequired[int | None]


class SessionListResult(TypedDict):
    sessions: list[ListedSession]
    truncated: bool


class SessionParams(TypedDict):
    pass


class SessionRoleChangedParams(TypedDict):
    sessionId: str
    role: SessionRole


class SessionTakeOverResult(TypedDict):
    role: SessionRole


class Methods:
    """The methods of the protocol, in terms of `call`, which a class that inherits this one has."""

    async def call(self, method: str, params: Any = None) -> Any:
        raise NotImplementedError

    async def environment_info(self, params: EnvironmentParams | None = None) -> EnvironmentInfo:
        return await self.call("environment/info", params)

    async def environment_status(self, params: EnvironmentParams | None = None) -> EnvironmentStatusResult:
        return await self.call("environment/status", params)

    async def process_start(self, params: ProcessStartParams) -> ProcessStartResult:
        return await self.call("process/start", params)

    async def process_read(self, params: ProcessReadParams) -> ProcessReadResult:
        return await self.call("process/read", params)

    async def process_write(self, params: ProcessWriteParams) -> ProcessWriteResult:
        return await self.call("process/write", params)

    async def process_close_stdin(self, params: ProcessIdParams) -> Empty:
        return await self.call("process/closeStdin", params)

    async def process_resize(self, params: ProcessResizeParams) -> Empty:
        return await self.call("process/resize", params)

    async def process_signal(self, params: ProcessSignalParams) -> Empty:
        return await self.call("process/signal", params)

    async def process_terminate(self, params: ProcessTerminateParams) -> ProcessTerminateResult:
        return await self.call("process/terminate", params)

    async def process_wait(self, params: ProcessWaitParams) -> ProcessWaitResult:
        return await self.call("process/wait", params)

    async def process_snapshot(self, params: ProcessIdParams) -> ProcessSnapshotResult:
        return await self.call("process/snapshot", params)

    async def process_list(self, params: ProcessListParams | None = None) -> ProcessListResult:
        return await self.call("process/list", params)

    async def fs_read_file(self, params: SandboxedFsFollowParams) -> FsReadFileResult:
        return await self.call("fs/readFile", params)

    async def fs_get_metadata(self, params: SandboxedFsFollowParams) -> FsGetMetadataResult:
        return await self.call("fs/getMetadata", params)

    async def fs_canonicalize(self, params: SandboxedFsPathParams) -> FsCanonicalizeResult:
        return await self.call("fs/canonicalize", params)

    async def fs_read_directory(self, params: SandboxedFsPathParams) -> FsReadDirectoryResult:
        return await self.call("fs/readDirectory", params)

    async def fs_walk(self, params: SandboxedFsWalkParams) -> FsWalkResult:
        return await self.call("fs/walk", params)

    async def fs_write_file(self, params: SandboxedFsWriteFileParams) -> Empty:
        return await self.call("fs/writeFile", params)

    async def fs_create_directory(self, params: SandboxedFsCreateDirectoryParams) -> Empty:
        return await self.call("fs/createDirectory", params)

    async def fs_remove(self, params: SandboxedFsRemoveParams) -> Empty:
        return await self.call("fs/remove", params)

    async def fs_copy(self, params: SandboxedFsCopyParams) -> Empty:
        return await self.call("fs/copy", params)

    async def fs_rename(self, params: SandboxedFsRenameParams) -> Empty:
        return await self.call("fs/rename", params)

    async def fs_open(self, params: SandboxedFsOpenParams) -> FsHandle:
        return await self.call("fs/open", params)

    async def fs_read_block(self, params: FsReadBlockParams) -> FsReadBlockResult:
        return await self.call("fs/readBlock", params)

    async def fs_write_block(self, params: FsWriteBlockParams) -> Empty:
        return await self.call("fs/writeBlock", params)

    async def fs_close(self, params: FsHandle) -> Empty:
        return await self.call("fs/close", params)

    async def fs_watch_missing(self, params: SandboxedFsWatchMissingParams) -> FsWatchMissingResult:
        return await self.call("fs/watchMissing", params)

    async def capability_roots_discover_v1(self, params: DiscoverRootsParams) -> DiscoverRootsResult:
        return await self.call("capabilityRoots/discoverV1", params)

    async def capabilities_discover_v2(self, params: SandboxedDiscoverCapabilitiesParams) -> DiscoverCapabilitiesResult:
        return await self.call("capabilities/discoverV2", params)

    async def environment_config_read(self, params: ReadEnvironmentConfigParams) -> ReadEnvironmentConfigResult:
        return await self.call("environmentConfig/read", params)

    async def http_request(self, params: SandboxedHttpRequestParams) -> HttpRequestResult:
        return await self.call("http/request", params)

    async def session_take_over(self, params: SessionParams | None = None) -> SessionTakeOverResult:
        return await self.call("session/takeOver", params)

    async def session_keep(self, params: SessionKeepParams) -> Empty:
        return await self.call("session/keep", params)

    async def session_list(self, params: SessionParams | None = None) -> SessionListResult:
        return await self.call("session/list", params)

    async def session_end(self, params: SessionEndParams) -> Empty:
        return await self.call("session/end", params)
