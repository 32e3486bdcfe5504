using System.Globalization;
using System.Text.Json;
using Tango;

namespace Corfu.Cli;

/// <summary><c>corfu object history</c>: an object's records as they stand in the log, read without its type.</summary>
internal static class ObjectHistoryCommand
{
    private const string Description =
        """
        List the records of an object, oldest first: updates, transactions that read or write it, and decisions of
        those. A record is known by its position in the log and its index there. Mutators have the numbers that the
        object's type gives them; 'corfu log dump' shows keys and arguments too. What a transaction came to stands in
        the log only where a decision record was needed.
        """;

    public static Command Create()
    {
        var name = ObjectCommand.NameArgument();
        var from = CommonOptions.PositionOption("--from", "First position (default: the first one there).");
        var limit = CommonOptions.NumberOption("--limit", "Records to list at most.", 100);
        var json = CommonOptions.JsonOption();
        return TangoCommand.WithRuntime("history", Description, [name, from, limit, json],
            async (client, runtime, result, cancellationToken) =>
            {
                var objects = await ObjectCommand.ReadAsync(runtime, cancellationToken);
                var id = ObjectCommand.Require(objects, result.GetRequiredValue(name)).Id;
                var mark = (await client.Cluster.FindExtentAsync(cancellationToken)).TrimMark;
                var start = LogPosition.Max(result.GetValue(from) ?? mark, mark);
                var output = result.InvocationConfiguration.Output;
                var records = ReadAsync(client, id, start, cancellationToken).Take(result.GetValue(limit));
                if (result.GetValue(json))
                {
                    await foreach (var record in records)
                        await output.WriteLineAsync(JsonSerializer.Serialize(record, CliJson.Lines.HistoryJson));
                    return ExitCode.Ok;
                }

                string[] header = ["RECORD", "TIME", "KIND", "MUTATORS", "TRANSACTION"];
                await TextTable.WriteAsync(output, header, (await records.ToListAsync(cancellationToken)).Select(Row));
                return ExitCode.Ok;
            });
    }

    private static async IAsyncEnumerable<HistoryJson> ReadAsync(CorfuClient client, ulong id, LogPosition from,
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var cursor = new StreamCursor(client);
        cursor.Add(new StreamId(id), from);
        await cursor.SyncAsync(ReadConsistency.Linearizable, cancellationToken);
        while (await cursor.ReadNextAsync(cancellationToken) is { } entry)
        {
            var records = TangoRecords.Read(entry.Payload);
            for (var i = 0; i < records.Count; i++)
            {
                if (HistoryJson.Of(entry, i, records[i], id) is { } found) yield return found;
            }
        }
    }

    private static string[] Row(HistoryJson record) =>
    [
        $"{record.Position}.{record.Index}",
        record.Time.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture),
        record.Kind,
        record.Mutators.Count == 0 ? "-" : string.Join(',', record.Mutators),
        record.Transaction is { } transaction ? Transaction(record, transaction) : "-",
    ];

    private static string Transaction(HistoryJson record, VersionJson transaction) => record.Kind == "decision"
        ? $"{transaction.Position}.{transaction.Index} {(record.Committed == true ? "committed" : "aborted")}"
        : record.Reads == true ? "reads it" : "writes only";
}

/// <summary>A record of an object, as JSON.</summary>
/// <param name="Time">By the clock of the entry's writer.</param>
/// <param name="Kind">update, commit or decision.</param>
/// <param name="Mutators">Mutators of the record's writes to the object, in order. The writes of a spilled transaction
/// are in other entries.</param>
/// <param name="Transaction">The commit record's place, for a commit and its decision.</param>
/// <param name="Reads">Whether a commit read the object.</param>
/// <param name="Committed">The outcome in a decision.</param>
internal sealed record HistoryJson(
    long Position, int Index, DateTimeOffset Time, string Kind, IReadOnlyList<int> Mutators, VersionJson? Transaction,
    bool? Reads, bool? Committed)
{
    /// <returns>Null if the record does not concern the object: an entry holds those of other callers too.</returns>
    public static HistoryJson? Of(LogEntry entry, int index, JsonElement record, ulong id)
    {
        var at = new VersionJson(entry.Position.Offset, index);
        HistoryJson Found(string kind, IReadOnlyList<int> mutators, VersionJson? transaction, bool? reads,
            bool? committed) =>
            new(at.Position, at.Index, entry.WriterTime, kind, mutators, transaction, reads, committed);
        switch (record.GetProperty("kind").GetString())
        {
            case "update":
                return IsOf(record) ? Found("update", [Mutator(record)], null, null, null) : null;
            case "commit":
                List<int> written = [.. record.GetProperty("writes").EnumerateArray().Where(IsOf).Select(Mutator)];
                var reads = record.GetProperty("reads").EnumerateArray().Any(IsOf);
                var isSpilled = record.TryGetProperty("spills", out var spills) && spills.EnumerateArray().Any(
                    spill => spill.GetProperty("objects").EnumerateArray().Any(o => o.GetUInt64() == id));
                return reads || isSpilled || written.Count > 0 ? Found("commit", written, at, reads, null) : null;
            // A decision record is in the streams of its transaction's participants, and names none of them.
            case "decision":
                var commit = new VersionJson(record.GetProperty("position").GetInt64(),
                    record.GetProperty("index").GetInt32());
                return Found("decision", [], commit, null,
                    record.GetProperty("aborted").ValueKind == JsonValueKind.Null);
            default:
                return null;
        }

        bool IsOf(JsonElement call) => call.GetProperty("object").GetUInt64() == id;
        static int Mutator(JsonElement call) => call.GetProperty("mutator").GetInt32();
    }
}

/// <summary>A record's place: the entry's position, and the index in it.</summary>
internal sealed record VersionJson(long Position, int Index);
