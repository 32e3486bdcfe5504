namespace Corfu.Hosting;

/// <summary>A node or cluster cannot start; the message says what to do about it.</summary>
public sealed class NodeStartException(string message, Exception? inner = null) : CorfuException(message, inner);
