using System.Globalization;
using Corfu.Load;

namespace Corfu.Peers;

/// <summary>A system through all rounds. Its servers run only while it is measured, on new data in each round. After a
/// fault it is measured no more, and the others go on.</summary>
internal sealed class TargetRun(ITarget target, RunPlan plan, string folder)
{
    private const int WarmUpCallers = 64;

    private readonly Dictionary<(string Operation, int InFlight), CellRounds> _cells = [];
    private string _version = "unknown";
    private string? _fault;
    private string? _notCounted;

    public ITarget Target => target;

    public string? Fault => _fault;

    public async Task RoundAsync(int round, CancellationToken cancellationToken)
    {
        if (_fault is not null) return;
        var name = string.Create(CultureInfo.InvariantCulture,
            $"{target.Info.Name.Replace(' ', '-').ToLowerInvariant()}-{round}");
        var data = Directory.CreateDirectory(Path.Combine(folder, name)).FullName;
        try
        {
            if (round == 0) _version = await target.VersionAsync();
            await using var running = await target.StartAsync(data, plan.Load, cancellationToken);
            await MeasureAsync(running, count: round == plan.Rounds - 1, cancellationToken);
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested)
        {
            // Whatever happens to one system must not cost the figures of the others.
            _fault = e is PeerException ? e.Message : $"{e.GetType().Name}: {e.Message}";
        }
        finally
        {
            Directory.Delete(data, recursive: true);
        }
    }

    public TargetReport Report() => new(target.Info, target.IsPeer, _version, _fault, _notCounted,
        _fault is null ? [.. _cells.Values.Select(cell => cell.Report())] : []);

    private async Task MeasureAsync(IRunningTarget running, bool count, CancellationToken cancellationToken)
    {
        try
        {
            foreach (var operation in running.Operations)
                await BoundedLoop.RunAsync(WarmUpCallers, plan.WarmUp, operation.Call, cancellationToken);
            foreach (var operation in running.Operations)
            {
                foreach (var inFlight in RunPlan.InFlight)
                    await MeasureAsync(running, operation, inFlight, cancellationToken);
            }

            if (count) await CountAsync(running, cancellationToken);
        }
        catch (Exception e) when (!cancellationToken.IsCancellationRequested && running.Log.Length > 0)
        {
            throw new PeerException($"{e.Message}; its last lines:\n{running.Log}", e);
        }
    }

    private async Task MeasureAsync(IRunningTarget running, Operation operation, int inFlight,
        CancellationToken cancellationToken)
    {
        await BoundedLoop.RunAsync(inFlight, plan.Settling, operation.Call, cancellationToken);
        var before = ProcessorTime.Of(running.ProcessIds);
        var result = await BoundedLoop.RunAsync(inFlight, plan.Seconds, operation.Call, cancellationToken);
        var used = ProcessorTime.Of(running.ProcessIds) - before;
        if (result.Operations == 0 || result.Failures > 0)
            throw new PeerException(string.Create(CultureInfo.InvariantCulture,
                $"{operation.Name} at {inFlight} in flight: {result.Operations} done, {result.Failures} failed"));
        if (!_cells.TryGetValue((operation.Name, inFlight), out var cell))
            _cells.Add((operation.Name, inFlight), cell = new CellRounds(operation.Name, operation.Writes, inFlight));
        cell.Add(result, used.Servers.TotalMicroseconds / result.Operations,
            used.Client.TotalMicroseconds / result.Operations);
    }

    private async Task CountAsync(IRunningTarget running, CancellationToken cancellationToken)
    {
        _notCounted = SyncCounter.Missing;
        if (_notCounted is not null) return;
        try
        {
            foreach (var operation in running.Operations.Where(operation => operation.Writes))
            {
                foreach (var inFlight in RunPlan.InFlight)
                {
                    await using var counter =
                        await SyncCounter.StartAsync(running.ProcessIds, folder, cancellationToken);
                    var result =
                        await BoundedLoop.RunAsync(inFlight, plan.CountSeconds, operation.Call, cancellationToken);
                    _cells[(operation.Name, inFlight)]
                        .Count(new SyncCount(await counter.StopAsync(), result.Operations));
                }
            }
        }
        catch (PeerException e)
        {
            // Tracing needs a right that containers often withhold; the figures stand without it.
            _notCounted = e.Message;
        }
    }
}
