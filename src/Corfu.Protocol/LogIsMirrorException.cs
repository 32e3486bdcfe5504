namespace Corfu.Protocol;

/// <summary>The log is a copy of another cluster's, and takes appends only after it was promoted.</summary>
public sealed class LogIsMirrorException(string what) : CorfuException($"{what}: this log is a mirror, or is being restored; it takes no appends before it is promoted.");
