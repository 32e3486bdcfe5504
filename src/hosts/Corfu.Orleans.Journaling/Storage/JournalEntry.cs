using System.Collections.Immutable;
using MessagePack;
using Orleans.Journaling;

namespace Corfu.Orleans.Journaling.Storage;

/// <summary>A caller's property of a journal.</summary>
[MessagePackObject]
internal readonly record struct JournalProperty([property: Key(0)] string Name, [property: Key(1)] string Value);

/// <summary>A journal in the catalog.</summary>
/// <remarks>Invariants: Created &lt;= Start &lt;= Root. All entries of the journal's stream at or above Start are in
/// the log.</remarks>
/// <param name="Created">Offset of the record that created the journal. Distinguishes it from earlier journals with its
/// id.</param>
/// <param name="Start">No entry of the stream below is needed to read the journal.</param>
/// <param name="Root">Offset of the newest snapshot that is known here, or Created. The entries between Start and Root
/// are parts of the snapshot.</param>
/// <param name="Tag">The place of the properties' last change: their etag.</param>
/// <param name="Format">Format of the data, or of the data that the creator will write.</param>
/// <param name="Properties">By name.</param>
[MessagePackObject]
internal sealed record JournalEntry(
    [property: Key(0)] long Created, [property: Key(1)] long Start, [property: Key(2)] long Root,
    [property: Key(3)] string Tag, [property: Key(4)] string? Format,
    [property: Key(5)] ImmutableArray<JournalProperty> Properties)
{
    public bool IsAt(JournalEntry? other) =>
        other is not null && (Created, Start, Root) == (other.Created, other.Start, other.Root);

    /// <param name="format">Format of the data that was read; null: the catalog's.</param>
    public IJournalMetadata ToMetadata(string? format = null) => new JournalMetadata(
        format ?? Format, Tag, Properties.ToImmutableSortedDictionary(
            static property => property.Name, static property => property.Value, StringComparer.Ordinal));
}

/// <summary>A journal and whether the call created it.</summary>
[MessagePackObject]
internal readonly record struct JournalCreation(
    [property: Key(0)] JournalEntry Entry, [property: Key(1)] bool IsNew);

/// <summary>A journal in a list.</summary>
[MessagePackObject]
internal readonly record struct ListedJournal([property: Key(0)] string Id, [property: Key(1)] JournalEntry Entry);
