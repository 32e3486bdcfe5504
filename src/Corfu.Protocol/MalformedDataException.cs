namespace Corfu.Protocol;

/// <summary>Bytes that are no valid frame, message, projection or entry.</summary>
public sealed class MalformedDataException(string message) : CorfuException(message);
