namespace Salus.Runs;

/// <summary>Accuses members of a volume's regions on the log. One that was made a moment ago is not repeated: each is a
/// record. Any thread.</summary>
internal sealed class Accusations(VolumePorts ports, TimeSpan pause, CancellationToken stop)
{
    private const int Most = 1024;

    private readonly Lock _gate = new();
    private readonly Dictionary<(Incarnation Member, SuspicionKind Kind), long> _made = [];

    /// <summary>Returns at once.</summary>
    public void Accuse(int region, Epoch generation, Incarnation member, SuspicionKind kind)
    {
        if (kind == SuspicionKind.WrongAnswer)
        {
            SalusClientTelemetry.WrongAnswers.Add(1);
            SalusClientLog.WrongAnswer(ports.Logger, ports.Log.Volume, member, region);
        }

        if (!TryBegin(member, kind)) return;
        ports.Loops.Start(() => RecordAsync(new Suspicion(region, generation, member, kind,
            ports.Time.GetUtcNow().ToUnixTimeMilliseconds())));
    }

    private async Task RecordAsync(Suspicion suspicion)
    {
        try
        {
            await ports.Log.SuspectAsync(suspicion, stop);
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            // The member is accused again as long as it fails.
        }
    }

    // False: the member was accused of this a moment ago.
    private bool TryBegin(Incarnation member, SuspicionKind kind)
    {
        lock (_gate)
        {
            if (_made.TryGetValue((member, kind), out var at) && ports.Time.GetElapsedTime(at) < pause) return false;
            if (_made.Count >= Most) _made.Clear();
            _made[(member, kind)] = ports.Time.GetTimestamp();
            return true;
        }
    }
}
