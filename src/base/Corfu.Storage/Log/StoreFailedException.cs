namespace Corfu.Storage;

/// <summary>The store met a fatal error: its server stops serving, and nothing is retried (a failed fsync is
/// final).</summary>
public sealed class StoreFailedException(string message, Exception? inner = null) : CorfuException(message, inner);
