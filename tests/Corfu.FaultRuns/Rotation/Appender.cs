using Corfu.Client;
using Corfu.FaultRuns.Clients;

namespace Corfu.FaultRuns.Rotation;

/// <summary>Appends all along, and remembers what was acknowledged.</summary>
internal sealed class Appender(CorfuClient client, string name)
{
    private readonly Dictionary<string, long> _acknowledged = [];
    private readonly Lock _gate = new();

    public int Unknown { get; private set; }

    public int Refused { get; private set; }

    /// <summary>Why the first refused append was.</summary>
    public string? Reason { get; private set; }

    public int Acknowledged
    {
        get
        {
            lock (_gate) return _acknowledged.Count;
        }
    }

    public async Task RunAsync(CancellationToken stop)
    {
        for (var i = 0; !stop.IsCancellationRequested; i++)
        {
            var id = $"{name}-{i}";
            try
            {
                var result = await client.AppendAsync(EntryText.Make(id), [EntryText.StreamOf(id)],
                    CancellationToken.None);
                if (result.Outcome == AppendOutcome.Appended) Remember(id, result.Position.Offset);
                else Unknown++;
            }
            catch (CorfuException e)
            {
                Refused++;
                Reason ??= e.Message;
                await Task.Delay(100, CancellationToken.None);
            }
        }
    }

    /// <summary>Acknowledged entries that are not where they were said to be.</summary>
    public int CountLost(IReadOnlyDictionary<long, string> found)
    {
        lock (_gate) return _acknowledged.Count(own => found.GetValueOrDefault(own.Value) != own.Key);
    }

    private void Remember(string id, long position)
    {
        lock (_gate) _acknowledged[id] = position;
    }
}
