namespace Corfu.Load;

/// <summary>A compared system did not start, answered with an error, or answered something wrong.</summary>
internal sealed class PeerException(string message, Exception? inner = null) : Exception(message, inner);
