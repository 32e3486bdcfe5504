using System.Collections.Immutable;
using Corfu;

namespace Tango.Model;

/// <summary>R18, R21: a version table at one position. Immutable, the bytes of the keys included.</summary>
/// <param name="Keys">In the order of eviction: the oldest version first.</param>
/// <param name="LowWaterMark">Versions of keys that are not listed are at or below it.</param>
internal sealed record VersionTableState(
    ImmutableArray<KeyVersion> Keys, RecordVersion? LastKeyless, RecordVersion? LastAny, RecordVersion? LowWaterMark)
{
    /// <summary>R18: the versions of an object that was written as a whole at a position, and not before. Reads of
    /// all keys from older snapshots conflict; reads from there on do not.</summary>
    public static VersionTableState WrittenAt(LogPosition position)
    {
        var version = new RecordVersion(position, 0);
        return new VersionTableState([], version, version, null);
    }
}

internal readonly record struct KeyVersion(byte[] Key, RecordVersion Version);
