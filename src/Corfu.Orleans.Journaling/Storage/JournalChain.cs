using System.Collections.Immutable;
using System.Globalization;
using Corfu.Protocol;
using Orleans.Journaling;

namespace Corfu.Orleans.Journaling.Storage;

/// <summary>
/// What a journal's stream comes to, record by record in log order. Pure: every reader of the stream decides alike.
/// </summary>
/// <remarks>
/// A record is in force if its <see cref="JournalRecord.Base"/> is the newest record in force before it. Of two writers
/// that build on the same record the first in the log wins; the other's record counts for no reader. Only records in
/// force move <see cref="Version"/>, so <c>Root &lt;= Version</c>.
/// </remarks>
/// <param name="root">Where to begin: a record known to be in force, or -1 for the stream's first.</param>
/// <param name="keepsData">Without, only what a writer needs is kept.</param>
internal sealed class JournalChain(string journal, long root, bool keepsData)
{
    private readonly Dictionary<Guid, List<(LogPosition Position, ReadOnlyMemory<byte> Data)>> _parts = [];
    private readonly List<ReadOnlyMemory<byte>> _data = [];
    private bool _keepsData = keepsData;

    /// <summary>Offset of the newest record in force; -1 for none.</summary>
    public long Version { get; private set; } = JournalRecord.None;

    public long Root { get; private set; } = JournalRecord.None;

    /// <summary>Nothing below is needed to read the journal.</summary>
    public long Start { get; private set; } = JournalRecord.None;

    public bool Exists { get; private set; }

    public string? FormatKey { get; private set; }

    public ImmutableSortedDictionary<string, string> Properties { get; private set; } =
        ImmutableSortedDictionary.Create<string, string>(StringComparer.Ordinal);

    /// <summary>The journal's data in order; empty if none is kept.</summary>
    public IReadOnlyList<ReadOnlyMemory<byte>> Data => _data;

    /// <summary>Keeps no data from here on; what is known of it stays.</summary>
    public void ReleaseData()
    {
        _data.Clear();
        _keepsData = false;
    }

    /// <summary>Data since the root, and the root's own.</summary>
    public long BytesSinceRoot { get; private set; }

    public long RootBytes { get; private set; }

    /// <summary>Records in force since the root.</summary>
    public int RecordsSinceRoot { get; private set; }

    public IJournalMetadata? Metadata => Exists
        ? new JournalMetadata(FormatKey, Version.ToString(CultureInfo.InvariantCulture),
            Properties)
        : null;

    /// <summary>Returns whether the record is in force.</summary>
    /// <exception cref="CorfuJournalException">It is another journal's, or parts of it are missing.</exception>
    public bool Accept(LogPosition position, JournalRecord record)
    {
        if (record.Journal != journal)
        {
            throw new CorfuJournalException(
                $"The entry at {position} belongs to journal '{record.Journal}', whose stream has the same number as "
                + $"that of '{journal}'.");
        }

        if (record.Kind == JournalRecordKind.Part)
        {
            if (!_parts.TryGetValue(record.Batch, out var parts)) _parts.Add(record.Batch, parts = []);
            parts.Add((position, record.Data));
            return false;
        }

        _parts.Remove(record.Batch, out var ahead);
        // Below the known root only its own parts are read.
        if (position.Offset < root) return false;
        if (position.Offset != root && record.Base != Version) return false;
        if ((ahead?.Count ?? 0) != record.Parts)
        {
            throw new CorfuJournalException(
                $"The record at {position} of journal '{journal}' has {record.Parts} parts, of which "
                + $"{ahead?.Count ?? 0} are in the log.");
        }

        Apply(position, record, ahead ?? []);
        // Other parts before it belong to records that build on an older one: none of them comes in force.
        _parts.Clear();
        return true;
    }

    private void Apply(
        LogPosition position, JournalRecord record, List<(LogPosition Position, ReadOnlyMemory<byte> Data)> parts)
    {
        Version = position.Offset;
        if (record.Properties is { } properties) Properties = properties;
        long bytes = record.Data.Length + parts.Sum(part => (long)part.Data.Length);
        if (record.Kind is JournalRecordKind.Replace or JournalRecordKind.Delete)
        {
            Root = position.Offset;
            Start = parts.Count == 0 ? Root : parts[0].Position.Offset;
            _data.Clear();
            (RootBytes, BytesSinceRoot, RecordsSinceRoot) = (bytes, 0, 0);
        }
        else
        {
            BytesSinceRoot += bytes;
            RecordsSinceRoot++;
        }

        Exists = record.Kind != JournalRecordKind.Delete;
        if (record.Kind is not JournalRecordKind.Properties) FormatKey = Exists ? record.FormatKey : null;
        if (!_keepsData || record.Kind is JournalRecordKind.Delete or JournalRecordKind.Properties) return;
        foreach (var (_, data) in parts) _data.Add(data);
        _data.Add(record.Data);
    }
}
