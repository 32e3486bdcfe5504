namespace Corfu.Protocol;

/// <summary>The entry exceeds the cluster's entry size limit.</summary>
public sealed class EntryTooLargeException(string what) : CorfuException($"{what}: the entry is too large.");
