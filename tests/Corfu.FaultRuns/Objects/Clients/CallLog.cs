using System.Text.Json;
using System.Text.Json.Serialization;
using Corfu.FaultRuns.Clients;

namespace Corfu.FaultRuns.Objects.Clients;

/// <summary>A line of a client's history.</summary>
/// <param name="Unexpected">An exception that no fault explains.</param>
public sealed record CallLine(
    ObjectCall? Call = null, StoreTransaction? Transaction = null, string? Unexpected = null);

/// <summary>A client's history as lines of JSON. A call that writes is there before it is sent, and again when its
/// outcome is known, so that a client that hangs or dies leaves a call of unknown outcome.</summary>
public sealed class CallLog(string path) : IDisposable
{
    private static readonly JsonSerializerOptions s_json = new()
    {
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingDefault,
        IgnoreReadOnlyProperties = true,
    };

    private readonly HistoryWriter _file = new(path);

    public static long Now => HistoryWriter.Now;

    public void Add(CallLine line) => _file.Line(JsonSerializer.Serialize(line, s_json));

    public void Dispose() => _file.Dispose();

    /// <summary>The whole lines of a history: a kill may tear the last one.</summary>
    public static IEnumerable<CallLine> Read(string file)
    {
        var text = File.ReadAllText(file);
        foreach (var line in text[..(text.LastIndexOf('\n') + 1)].Split('\n', StringSplitOptions.RemoveEmptyEntries))
            yield return JsonSerializer.Deserialize<CallLine>(line, s_json)!;
    }
}
