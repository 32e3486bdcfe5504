using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>The store met a fatal error and takes nothing any more. The unit stops serving; nothing is retried (a
/// failed fsync is final).</summary>
public sealed class StoreFailedException(string message, Exception? inner = null) : CorfuException(message, inner);
