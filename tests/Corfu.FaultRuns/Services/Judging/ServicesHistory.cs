using System.Globalization;

namespace Corfu.FaultRuns.Services.Judging;

/// <summary>All that the workload processes have written down. Times are of a clock that all of them share.</summary>
public sealed class ServicesHistory
{
    public Dictionary<string, PutFact> Puts { get; } = [];

    public List<GetFact> Gets { get; } = [];

    public List<AckFact> Acks { get; } = [];

    /// <summary>Last entries, as closes and recoveries have returned them.</summary>
    public List<(long Ledger, long Last)> Ends { get; } = [];

    public List<(long Ledger, long Began, long Last)> Confirmed { get; } = [];

    public List<(long Ledger, long Entry, string Value)> Entries { get; } = [];

    /// <summary>Commands that were sent, by user: the highest number.</summary>
    public Dictionary<string, long> Sent { get; } = [];

    public List<RunFact> Runs { get; } = [];

    public List<(long Began, long Ended, long Count)> Queries { get; } = [];

    public List<string> Stopped { get; } = [];

    /// <summary>Exceptions that processes did not expect.</summary>
    public List<string> Unexpected { get; } = [];

    /// <summary>Operations that were answered.</summary>
    public long Operations =>
        Puts.Values.Count(static put => put.Revision is not null) + Gets.Count + Acks.Count + Confirmed.Count
        + Runs.Count + Queries.Count;

    public static ServicesHistory Read(IEnumerable<string> files)
    {
        var history = new ServicesHistory();
        foreach (var file in files)
        {
            var text = File.ReadAllText(file);
            // A kill may tear the last line: what it would have said was not sent, or not heard.
            foreach (var line in text[..(text.LastIndexOf('\n') + 1)]
                .Split('\n', StringSplitOptions.RemoveEmptyEntries))
                history.Add(Path.GetFileNameWithoutExtension(file), line);
        }

        return history;
    }

    /// <param name="process">Names the history.</param>
    public void Add(string process, string line)
    {
        switch (line.Split('\t'))
        {
            case ["put", var id, var began, var keys]:
                Puts.Add(id, new PutFact(id, Number(began), keys.Split(',')));
                break;
            case ["done", var id, var ended, var revision]:
                (Puts[id].Ended, Puts[id].Revision) = (Number(ended), Number(revision));
                break;
            case ["void", var id]:
                Puts[id].IsVoid = true;
                break;
            case ["get", var began, var ended, var revision, var found]:
                Gets.Add(new GetFact(Number(began), Number(ended), Number(revision),
                    [.. found.Split(' ').Select(static one => one.Split('=')).Select(static one => (one[0], one[1]))]));
                break;
            case ["acked", var ledger, var ended, var entry, var value]:
                Acks.Add(new AckFact(Number(ledger), Number(ended), Number(entry), value));
                break;
            case ["ended", var ledger, var last]:
                Ends.Add((Number(ledger), Number(last)));
                break;
            case ["confirmed", var ledger, var began, var last]:
                Confirmed.Add((Number(ledger), Number(began), Number(last)));
                break;
            case ["entry", var ledger, var entry, var value]:
                Entries.Add((Number(ledger), Number(entry), value));
                break;
            case ["command", var user, var number]:
                Sent[user] = Math.Max(Sent.GetValueOrDefault(user), Number(number));
                break;
            case ["ran", var user, var ended, var number, var count]:
                Runs.Add(new RunFact(user, Number(ended), Number(number), Number(count)));
                break;
            case ["query", var began, var ended, var count]:
                Queries.Add((Number(began), Number(ended), Number(count)));
                break;
            case ["stopped", var reason]:
                Stopped.Add($"{process}: {reason}");
                break;
            case ["unexpected", var text]:
                Unexpected.Add($"{process}: {text}");
                break;
            case ["end"]:
                break;
            default:
                throw new InvalidDataException($"{process}: {line}");
        }
    }

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);
}

/// <summary>A transaction that puts keys.</summary>
public sealed class PutFact(string id, long began, string[] keys)
{
    public string Id => id;

    public long Began => began;

    public string[] Keys => keys;

    public long Ended { get; set; }

    /// <summary>As its process was told. Null: it has no answer.</summary>
    public long? Revision { get; set; }

    /// <summary>The process was told that it does nothing, now or later.</summary>
    public bool IsVoid { get; set; }
}

/// <param name="Found">Keys that were asked for, each with the write that its value names; empty: there was
/// none.</param>
public sealed record GetFact(long Began, long Ended, long Revision, IReadOnlyList<(string Key, string Id)> Found);

public sealed record AckFact(long Ledger, long Ended, long Entry, string Value);

/// <param name="Count">Commands that had run, this one too.</param>
public sealed record RunFact(string User, long Ended, long Number, long Count);
