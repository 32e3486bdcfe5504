using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// An operation was given up after <see cref="CorfuClientOptions.OperationTimeout"/>; the message says what it was waiting for. Reads,
/// checks and trims may simply be repeated. An append says this only when its entry is certainly not in the log.
/// </summary>
public sealed class LogUnavailableException(string message, Exception? inner = null) : CorfuException(message, inner);
