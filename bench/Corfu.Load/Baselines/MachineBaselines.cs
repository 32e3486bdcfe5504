using System.Globalization;

namespace Corfu.Load;

/// <summary>Best figures of the machine, measured beside each round of something else: the bare echo of one process,
/// and one caller's write and fdatasync.</summary>
internal sealed class MachineBaselines : IDisposable
{
    private readonly RunParameters _parameters;
    private readonly string _folder;
    private readonly BareRoleProcess _echo = BareRoleProcess.Start(BareRoleCommand.Echo);
    private readonly WorkerProcess _worker = WorkerProcess.Start();
    private readonly List<RoundResult> _echoes = [];
    private readonly List<RoundResult> _disks = [];
    private string? _target;

    public MachineBaselines(RunParameters parameters, string folder) => (_parameters, _folder) = (parameters, folder);

    public async Task MeasureAsync()
    {
        _target ??= await _echo.AddressAsync();
        var order = new WorkerOrder(
            WorkloadKind.Echo, _target, _parameters.InFlight, _parameters.Size, _parameters.Seconds);
        var report = await _worker.RunAsync(order);
        _echoes.Add(RoundResult.Of(
            Latencies.Decode(report.Histogram), report.Seconds, report.Failures));
        _disks.Add(BareDisk.Run(_folder, _parameters.Size, TimeSpan.FromSeconds(_parameters.Seconds)));
    }

    /// <summary>Medians, for the end of a line of figures.</summary>
    public string Figures() => string.Create(CultureInfo.InvariantCulture,
        $"echo_per_second={RoundResult.Median(_echoes).PerSecond:0} "
        + $"fdatasync_us={RoundResult.Median(_disks).P50:0}");

    public void Dispose()
    {
        _worker.Dispose();
        _echo.Dispose();
    }
}
