namespace Corfu.Protocol;

/// <summary>The position was released by a trim.</summary>
public sealed class LogTrimmedException(string what) : CorfuException($"{what}: trimmed.");
