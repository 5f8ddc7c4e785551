// The messages of the protocol, its methods and its error codes.
// tools/generate_sdk has made this file from docs/openrpc.json.

// A T in which these members are there and are not null.
type Having<T, Names extends keyof T> = T & { [Name in Names]-?: NonNullable<T[Name]> };

export interface CapabilityFile {
  path: string;
  contents: string;
}

export interface CapabilityRoot {
  id: string;
  path: string;
}

export interface ClientCapabilities {
  lifecycle?: boolean;
  maxMessageBytes?: number | null;
}

export interface ConfigLayer {
  source: string;
  baseDir: string;
  toml: string;
}

export interface ConfigLayers {
  layers: ConfigLayer[];
  cloudInsertionIndex: number;
}

export interface DiscoverCapabilitiesResult {
  plugins: Plugin[];
  skills: Skill[];
  warnings: string[];
}

export interface DiscoverRootsParams {
  roots: SandboxedCapabilityRoot[];
}

export interface DiscoverRootsResult {
  roots: DiscoveredRoot[];
}

export interface DiscoveredRoot {
  id: string;
  path: string;
  plugin: PluginFiles | null;
  skills: SkillFiles[];
  namespaceManifests: CapabilityFile[];
  warnings: string[];
  error: string | null;
}

export interface DroppedOutput {
  seq: number;
  bytes: number;
}

export type Empty = Record<string, never>;

export type EndCause = "wall" | "session-ended" | "server-stopped";

export interface EnvPolicy {
  inherit: Inherit;
  ignoreDefaultExcludes: boolean;
  exclude: string[];
  set: Record<string, string>;
  includeOnly: string[];
}

export interface EnvironmentCapabilities {
  fsWatchMissing: boolean;
  httpHeaderEnvVars: boolean;
  fileWriteStreaming: boolean;
  sandboxedFileStreaming: boolean;
  capabilityDiscoverySandbox: boolean;
  capabilityDiscoveryV2: boolean;
  environmentConfigRead: boolean;
  linuxRootWritePreservesDevices: boolean;
  linuxApprovedRootWritePreservesRestrictions: boolean;
  execPolicy: boolean;
  fileUpdate: boolean;
  limits: string[];
}

export interface EnvironmentInfo {
  shell: Shell;
  executorVersion: string;
  providerId?: string;
  cwd: string;
  userHomeDir: string;
  platformOs: string;
  prependPathDirs: string[];
  temporaryDirectories: string[];
  tempDir: string;
  capabilities: EnvironmentCapabilities;
}

export type EnvironmentParams = Record<string, never>;

export interface EnvironmentStatusResult {
  status: string;
}

export interface ExecApproveParams {
  processId: string;
  file: string;
  argv: string[];
  cwd: string;
  reason: string;
  rule: string;
  env: Record<string, string>;
  proposed: ExecDecision;
}

export interface ExecApproveResult {
  decision: ExecDecision;
  reason?: string | null;
}

export type ExecDecision = "run" | "escalate" | "deny";

export interface ExecPolicy {
  rules: string[];
  strict?: boolean;
}

export interface FsCanonicalizeResult {
  path: string;
}

export interface FsDirectoryEntry {
  fileName: string;
  isDirectory: boolean;
  isFile: boolean;
}

export interface FsGetMetadataResult {
  isDirectory: boolean;
  isFile: boolean;
  isSymlink: boolean;
  size: number;
  createdAtMs: number;
  modifiedAtMs: number;
  permissions?: number;
}

export interface FsHandle {
  handleId: string;
}

export interface FsMissingChangedParams {
  watchId: number;
}

export type FsOpenMode = "read" | "replace" | "update";

export interface FsReadBlockParams {
  handleId: string;
  offset: number;
  len: number;
}

export interface FsReadBlockResult {
  chunk: string; // base64
  eof: boolean;
}

export interface FsReadDirectoryResult {
  entries: FsDirectoryEntry[];
}

export interface FsReadFileResult {
  dataBase64: string; // base64
}

export interface FsWalkEntry {
  path: string;
  kind: WalkedKind;
}

export interface FsWalkError {
  path: string;
  message: string;
}

export interface FsWalkOptions {
  maxDepth: number;
  maxDirectories: number;
  maxEntries: number;
  followDirectorySymlinks: boolean;
  pruneHiddenDirectories?: boolean | null;
}

export interface FsWalkResult {
  entries: FsWalkEntry[];
  errors: FsWalkError[];
  truncated: boolean;
}

export interface FsWatchMissingResult {
  watching: boolean;
}

export interface FsWriteBlockParams {
  handleId: string;
  offset: number;
  chunk: string; // base64
}

export interface HttpBodyDeltaParams {
  requestId: string;
  seq: number;
  deltaBase64: string; // base64
  done: boolean;
  error: string | null;
}

export interface HttpHeader {
  name: string;
  value: string;
}

export interface HttpRequestHeader {
  name: string;
  value: string;
  valueEnvVar?: string | null;
}

export interface HttpRequestResult {
  status: number;
  headers: HttpHeader[];
  bodyBase64: string; // base64
}

export type Inherit = "all" | "core" | "none";

export interface InitializeParams {
  clientName: string;
  resumeSessionId?: string | null;
  capabilities?: ClientCapabilities | null;
  sessionName?: string | null;
  shared?: boolean | null;
  role?: SessionRole | null;
  detachedTtlMs?: number | null;
}

export interface InitializeResult {
  sessionId: string;
  environmentInfo?: EnvironmentInfo;
  sessionName?: string;
  role?: SessionRole;
}

export type InitializedParams = Record<string, never>;

export interface Limits {
  wallMs?: number | null;
}

export interface ListedProcess {
  processId: string;
  argv: string[];
  pid: number | null;
  state: ProcessState;
  exitCode: number | null;
  end?: ProcessEnd;
  startedAtMs: number;
  exitedAtMs: number | null;
  outputBytes: number;
  inputBytes: number;
  cwd?: string;
  sandbox?: ListedSandbox;
  rules?: string[];
  signal?: string;
}

export interface ListedSandbox {
  files: string;
  network: boolean;
  write: string[];
  deny: string[];
}

export interface ListedSession {
  sessionId: string;
  sessionName?: string;
  shared: boolean;
  role?: SessionRole;
  connections: number;
  driver?: string;
  createdAtMs: number;
  detachedTtlMs?: number;
  processes: ListedProcess[];
}

export interface ManagedNetwork {
  loopbackPorts?: number[] | null;
  allowLocalBinding?: boolean | null;
}

export interface OutputChunk {
  seq: number;
  stream: Stream;
  chunk: string; // base64
}

export interface PipeIo {
  stdin: StdinMode;
}

export interface Plugin {
  id: string;
  displayName: string;
  remotePluginId: string | null;
  version: string;
  root: string;
  files: PluginFiles;
  skills: Skill[];
}

export interface PluginFiles {
  manifest: CapabilityFile;
  mcpConfig: CapabilityFile | null;
  appsConfig: CapabilityFile | null;
}

export interface PolicyContext {
  cwd?: string | null;
  workspaceRoots?: string[] | null;
}

export interface PreparedCommand {
  program: string;
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  arg0?: string | null;
}

export interface ProcessClosedParams {
  processId: string;
  seq: number;
}

export interface ProcessEnd {
  cause?: EndCause;
}

export interface ProcessExitedParams {
  processId: string;
  seq: number;
  exitCode: number;
  sandboxDenied: boolean;
  end?: ProcessEnd;
}

export interface ProcessFailedParams {
  processId: string;
  message: string;
}

export interface ProcessIdParams {
  processId: string;
}

export interface ProcessIoMembers {
  pty?: PtyIo | null;
  pipe?: PipeIo | null;
}
export type ProcessIo = (Having<ProcessIoMembers, "pty"> | Having<ProcessIoMembers, "pipe">);

export type ProcessListParams = Record<string, never>;

export interface ProcessListResult {
  processes: ListedProcess[];
  truncated: boolean;
}

export interface ProcessOutputLostParams {
  processId: string;
  fromSeq: number;
  toSeq: number;
}

export interface ProcessOutputParams {
  processId: string;
  seq: number;
  stream: Stream;
  chunk: string; // base64
}

export interface ProcessReadParams {
  processId: string;
  afterSeq?: number | null;
  maxBytes?: number | null;
  waitMs?: number | null;
}

export interface ProcessReadResult {
  chunks: OutputChunk[];
  nextSeq: number;
  exited: boolean;
  exitCode: number | null;
  closed: boolean;
  failure: string | null;
  sandboxDenied: boolean;
  end?: ProcessEnd;
  dropped?: DroppedOutput;
}

export interface ProcessResizeParams {
  processId: string;
  rows: number;
  cols: number;
}

export interface ProcessSignalParams {
  processId: string;
  signal: string;
}

export interface ProcessSnapshotResult {
  stdout: string; // base64
  stderr: string; // base64
  terminal: string; // base64
  truncated: boolean;
  omittedBytes: number;
  exitCode: number | null;
  running: boolean;
}

export interface ProcessStartParamsMembers {
  processId: string;
  prepared?: PreparedCommand | null;
  io?: ProcessIo | null;
  argv?: string[];
  cwd?: string;
  env?: Record<string, string>;
  tty?: boolean;
  pipeStdin?: boolean;
  arg0?: string | null;
  envPolicy?: EnvPolicy | null;
  enforceManagedNetwork?: boolean;
  sandbox?: Sandbox | null;
  managedNetwork?: ManagedNetwork | null;
  execPolicy?: ExecPolicy | null;
  limits?: Limits | null;
  networkProxy?: null;
  shellSnapshot?: null;
}
export type ProcessStartParams = (Having<ProcessStartParamsMembers, "argv" | "cwd" | "env"> | Having<ProcessStartParamsMembers, "prepared">) & (Having<ProcessStartParamsMembers, "tty"> | Having<ProcessStartParamsMembers, "io">);

export interface ProcessStartResult {
  processId: string;
  sandboxType: SandboxType;
}

export interface ProcessStartedParams {
  processId: string;
  pid: number;
}

export type ProcessState = "starting" | "running" | "exited" | "closed";

export interface ProcessTerminateParams {
  processId: string;
  mode?: TerminateMode | null;
}

export interface ProcessTerminateResult {
  running: boolean;
}

export interface ProcessWaitParams {
  processId: string;
  timeoutMs?: number | null;
}

export interface ProcessWaitResult {
  exited: boolean;
  exitCode: number | null;
  closed: boolean;
  timedOut: boolean;
  sandboxDenied: boolean;
  end?: ProcessEnd;
}

export interface ProcessWriteParams {
  processId: string;
  chunk: string; // base64
  writeId?: string | null;
}

export interface ProcessWriteResult {
  status: WriteStatus;
}

export interface PtyIo {
  rows: number;
  cols: number;
}

export interface ReadEnvironmentConfigParams {
  cwd: string;
  configPaths: string[][];
  requirementsPaths: string[][];
}

export interface ReadEnvironmentConfigResult {
  userHomeDir: string;
  codexHomeDir: string;
  hostname: string;
  config: ConfigLayers;
  requirements: ConfigLayers;
}

export type RedirectPolicy = "follow" | "stop";

export interface SandboxMembers {
  permissions?: Record<string, unknown>;
  sandboxPolicy?: Record<string, unknown>;
  type?: string;
  windowsSandboxLevel?: WindowsSandboxLevel;
  cwd?: string | null;
  workspaceRoots?: string[] | null;
  policyContext?: PolicyContext | null;
  useLegacyLandlock?: boolean | null;
}
export type Sandbox = (Having<SandboxMembers, "permissions" | "windowsSandboxLevel"> | Having<SandboxMembers, "sandboxPolicy"> | Having<SandboxMembers, "type">);

export type SandboxType = "none" | "linuxSeccomp" | "macosSeatbelt" | "windowsRestrictedToken";

export interface SandboxedCapabilityRoot {
  id: string;
  path: string;
  sandbox?: Sandbox | null;
}

export interface SandboxedDiscoverCapabilitiesParams {
  cwd: string;
  sandbox?: Sandbox | null;
}

export interface SandboxedFsCopyParams {
  sourcePath: string;
  destinationPath: string;
  recursive: boolean;
  sandbox?: Sandbox | null;
}

export interface SandboxedFsCreateDirectoryParams {
  path: string;
  followSymlinks?: boolean | null;
  recursive?: boolean | null;
  sandbox?: Sandbox | null;
}

export interface SandboxedFsFollowParams {
  path: string;
  followSymlinks?: boolean | null;
  sandbox?: Sandbox | null;
}

export interface SandboxedFsOpenParams {
  handleId: string;
  path: string;
  followSymlinks?: boolean | null;
  mode?: FsOpenMode | null;
  size?: number | null;
  permissions?: number | null;
  modifiedAtMs?: number | null;
  sandbox?: Sandbox | null;
}

export interface SandboxedFsPathParams {
  path: string;
  sandbox?: Sandbox | null;
}

export interface SandboxedFsRemoveParams {
  path: string;
  followSymlinks?: boolean | null;
  recursive?: boolean | null;
  force?: boolean | null;
  sandbox?: Sandbox | null;
}

export interface SandboxedFsRenameParams {
  sourcePath: string;
  destinationPath: string;
  replace?: boolean | null;
  sandbox?: Sandbox | null;
}

export interface SandboxedFsWalkParams {
  path: string;
  options: FsWalkOptions;
  sandbox?: Sandbox | null;
}

export interface SandboxedFsWatchMissingParams {
  watchId: number;
  missing: string[];
  present?: string | null;
  sandbox?: Sandbox | null;
}

export interface SandboxedFsWriteFileParams {
  path: string;
  followSymlinks?: boolean | null;
  dataBase64: string; // base64
  atomic?: boolean | null;
  expectedSha256?: string | null;
  sandbox?: Sandbox | null;
}

export interface SandboxedHttpRequestParams {
  requestId: string;
  method: string;
  url: string;
  headers?: HttpRequestHeader[];
  bodyBase64?: string | null; // base64
  timeoutMs?: number | null;
  redirectPolicy?: RedirectPolicy | null;
  streamResponse?: boolean;
  sandbox?: Sandbox | null;
}

export interface SessionEndParams {
  sessionId?: string | null;
  sessionName?: string | null;
}

export interface SessionEndedParams {
  sessionId: string;
}

export interface SessionKeepParams {
  detachedTtlMs?: number | null;
}

export interface SessionListResult {
  sessions: ListedSession[];
  truncated: boolean;
}

export type SessionParams = Record<string, never>;

export type SessionRole = "driver" | "observer";

export interface SessionRoleChangedParams {
  sessionId: string;
  role: SessionRole;
}

export interface SessionTakeOverResult {
  role: SessionRole;
}

export interface Shell {
  name: string;
  path: string;
}

export interface Skill {
  name: string;
  description: string;
  shortDescription: string | null;
  path: string;
  discoveryRoot?: CapabilityRoot;
  dependencies: SkillDependencies | null;
  policy: SkillPolicy | null;
}

export interface SkillDependencies {
  tools: ToolDependency[];
}

export interface SkillFiles {
  instructions: CapabilityFile;
  metadata: CapabilityFile | null;
}

export interface SkillPolicy {
  allowImplicitInvocation: boolean | null;
  products: string[];
}

export type StdinMode = "open" | "closed";

export type Stream = "stdout" | "stderr" | "pty";

export type TerminateMode = "force" | { graceful: { timeoutMs: number; }; };

export interface ToolDependency {
  type: string;
  value: string;
  description: string | null;
  transport: string | null;
  command: string | null;
  url: string | null;
  oauthCallbackPort: number | null;
}

export type WalkedKind = "directory" | "file";

export type WindowsSandboxLevel = "disabled" | "restricted-token" | "elevated";

export type WriteStatus = "accepted" | "unknownProcess" | "stdinClosed" | "starting";

// The methods that a client calls.
export interface Methods {
  "initialize": { params: InitializeParams; result: InitializeResult };
  "environment/info": { params: EnvironmentParams | undefined; result: EnvironmentInfo };
  "environment/status": { params: EnvironmentParams | undefined; result: EnvironmentStatusResult };
  "process/start": { params: ProcessStartParams; result: ProcessStartResult };
  "process/read": { params: ProcessReadParams; result: ProcessReadResult };
  "process/write": { params: ProcessWriteParams; result: ProcessWriteResult };
  "process/closeStdin": { params: ProcessIdParams; result: Empty };
  "process/resize": { params: ProcessResizeParams; result: Empty };
  "process/signal": { params: ProcessSignalParams; result: Empty };
  "process/terminate": { params: ProcessTerminateParams; result: ProcessTerminateResult };
  "process/wait": { params: ProcessWaitParams; result: ProcessWaitResult };
  "process/snapshot": { params: ProcessIdParams; result: ProcessSnapshotResult };
  "process/list": { params: ProcessListParams | undefined; result: ProcessListResult };
  "fs/readFile": { params: SandboxedFsFollowParams; result: FsReadFileResult };
  "fs/getMetadata": { params: SandboxedFsFollowParams; result: FsGetMetadataResult };
  "fs/canonicalize": { params: SandboxedFsPathParams; result: FsCanonicalizeResult };
  "fs/readDirectory": { params: SandboxedFsPathParams; result: FsReadDirectoryResult };
  "fs/walk": { params: SandboxedFsWalkParams; result: FsWalkResult };
  "fs/writeFile": { params: SandboxedFsWriteFileParams; result: Empty };
  "fs/createDirectory": { params: SandboxedFsCreateDirectoryParams; result: Empty };
  "fs/remove": { params: SandboxedFsRemoveParams; result: Empty };
  "fs/copy": { params: SandboxedFsCopyParams; result: Empty };
  "fs/rename": { params: SandboxedFsRenameParams; result: Empty };
  "fs/open": { params: SandboxedFsOpenParams; result: FsHandle };
  "fs/readBlock": { params: FsReadBlockParams; result: FsReadBlockResult };
  "fs/writeBlock": { params: FsWriteBlockParams; result: Empty };
  "fs/close": { params: FsHandle; result: Empty };
  "fs/watchMissing": { params: SandboxedFsWatchMissingParams; result: FsWatchMissingResult };
  "capabilityRoots/discoverV1": { params: DiscoverRootsParams; result: DiscoverRootsResult };
  "capabilities/discoverV2": { params: SandboxedDiscoverCapabilitiesParams; result: DiscoverCapabilitiesResult };
  "environmentConfig/read": { params: ReadEnvironmentConfigParams; result: ReadEnvironmentConfigResult };
  "http/request": { params: SandboxedHttpRequestParams; result: HttpRequestResult };
  "session/takeOver": { params: SessionParams | undefined; result: SessionTakeOverResult };
  "session/keep": { params: SessionKeepParams; result: Empty };
  "session/list": { params: SessionParams | undefined; result: SessionListResult };
  "session/end": { params: SessionEndParams; result: Empty };
}

// The methods that the server calls.
export interface ServerMethods {
  "exec/approve": { params: ExecApproveParams; result: ExecApproveResult };
}

// The notifications that the server sends.
export interface Notifications {
  "process/output": { params: ProcessOutputParams };
  "process/exited": { params: ProcessExitedParams };
  "process/closed": { params: ProcessClosedParams };
  "process/started": { params: ProcessStartedParams };
  "process/failed": { params: ProcessFailedParams };
  "process/outputLost": { params: ProcessOutputLostParams };
  "session/roleChanged": { params: SessionRoleChangedParams };
  "session/ended": { params: SessionEndedParams };
  "http/request/bodyDelta": { params: HttpBodyDeltaParams };
  "fs/missingChanged": { params: FsMissingChangedParams };
}

export declare const ErrorCode: {
  readonly NotJson: -32700; // The message is not JSON.
  readonly InvalidRequest: -32600; // The request is not possible now: a limit, a denied file, an unknown process or session, or a wrong order.
  readonly UnknownMethod: -32601; // There is no such method.
  readonly InvalidParams: -32602; // The params cannot be decoded, or ask for something impossible.
  readonly Failed: -32603; // The operation failed: a system call, an HTTP request, or the start of a command.
  readonly NotFound: -32004; // The file or the file handle does not exist.
  readonly SessionAttached: -32010; // The session is attached to another connection, which answers.
};

// The methods that a connection may call which only observes a session.
export declare const observerMethods: ReadonlySet<string>;
