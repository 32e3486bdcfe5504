using System.Collections.Immutable;

namespace Tango.Checkpoints;

/// <summary>R18, R21: a version table at one position. Immutable, the bytes of the keys included.</summary>
/// <param name="Keys">In the order of eviction: the oldest version first.</param>
/// <param name="LowWaterMark">Versions of keys that are not listed are at or below it.</param>
internal sealed record VersionTableState(
    ImmutableArray<KeyVersion> Keys, RecordVersion? LastKeyless, RecordVersion? LastAny, RecordVersion? LowWaterMark);

internal readonly record struct KeyVersion(byte[] Key, RecordVersion Version);
