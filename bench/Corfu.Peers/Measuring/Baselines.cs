using Corfu.Load;

namespace Corfu.Peers;

/// <summary>Figures of the machine without any of the systems, measured in every round. They are a bare echo on this
/// project's transport, one connection, the same sizes and callers; and one caller's write and fdatasync.</summary>
internal sealed class Baselines : IAsyncDisposable
{
    private readonly RunPlan _plan;
    private readonly string _folder;
    private readonly BareRoleProcess _echo = BareRoleProcess.Start(BareRoleCommand.Echo);
    private readonly Dictionary<int, List<RoundResult>> _echoes =
        RunPlan.InFlight.ToDictionary(inFlight => inFlight, _ => new List<RoundResult>());

    private readonly List<RoundResult> _disks = [];
    private IWorkload? _workload;

    public Baselines(RunPlan plan, string folder) => (_plan, _folder) = (plan, folder);

    public async Task MeasureAsync(CancellationToken cancellationToken)
    {
        _workload ??= Workloads.OpenEcho(await _echo.AddressAsync());
        foreach (var inFlight in RunPlan.InFlight)
        {
            var operation = _workload.Prepare(inFlight, _plan.Load.Size);
            await BoundedLoop.RunAsync(inFlight, _plan.Settling, operation, cancellationToken);
            _echoes[inFlight].Add(await BoundedLoop.RunAsync(inFlight, _plan.Seconds, operation, cancellationToken));
        }

        _disks.Add(BareDisk.Run(_folder, _plan.Load.Size, TimeSpan.FromSeconds(_plan.Seconds)));
    }

    public BaselineReport Report() => new(
        [.. _echoes.Select(pair => new EchoReport(pair.Key, RoundResult.Median(pair.Value)))],
        RoundResult.Median(_disks));

    public async ValueTask DisposeAsync()
    {
        if (_workload is not null) await _workload.DisposeAsync();
        _echo.Dispose();
    }
}
