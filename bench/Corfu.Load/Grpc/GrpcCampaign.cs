namespace Corfu.Load;

/// <summary>Appends through one front end, in rounds. Each round also has the gRPC echo with messages of the same
/// size, the native client on the same cluster, the bare echo and the disk: all of them met the same machine.</summary>
internal sealed class GrpcCampaign(RunParameters parameters, int batch, int rounds, string folder)
{
    private readonly List<RoundResult> _appends = [];
    private readonly List<RoundResult> _grpcEchoes = [];
    private readonly List<RoundResult> _natives = [];
    private readonly List<RoundResult> _echoes = [];
    private readonly List<RoundResult> _disks = [];

    /// <param name="connect">The cluster for the native client.</param>
    /// <param name="frontEnd">A front end of the same cluster; null: one is started.</param>
    public async Task<GrpcReport> RunAsync(string connect, Uri? frontEnd)
    {
        using var echo = BareRoleProcess.Start(BareRoleCommand.Echo);
        using var grpcEcho = BareRoleProcess.StartGrpc(connect: null);
        using var ownFrontEnd = frontEnd is null ? BareRoleProcess.StartGrpc(connect) : null;
        var workers = Enumerable.Range(0, parameters.Processes).Select(_ => WorkerProcess.Start()).ToArray();
        try
        {
            var echoes = Order(WorkloadKind.Echo, await echo.AddressAsync());
            var grpcEchoes = Order(WorkloadKind.GrpcEcho, await grpcEcho.AddressAsync());
            var natives = Order(WorkloadKind.Append, connect) with { Callers = parameters.InFlight * batch };
            var address = ownFrontEnd is null ? frontEnd!.ToString() : await ownFrontEnd.AddressAsync();
            var appends = Order(WorkloadKind.GrpcAppend, address);
            // Connections, tiers of compiled code: not what a round is about.
            foreach (var order in new[] { grpcEchoes, natives, appends })
                await Campaign.RunRoundAsync(workers, order with { Seconds = parameters.Seconds / 2 });
            for (var i = 0; i < rounds; i++)
            {
                _echoes.Add(await Campaign.RunRoundAsync(
                    workers, echoes with { Seconds = parameters.Seconds / 2 }));
                _disks.Add(BareDisk.Run(folder, parameters.Size, TimeSpan.FromSeconds(parameters.Seconds / 2)));
                _grpcEchoes.Add(await Campaign.RunRoundAsync(workers, grpcEchoes));
                _natives.Add(await Campaign.RunRoundAsync(workers, natives));
                _appends.Add(await Campaign.RunRoundAsync(workers, appends));
            }

            return Report();
        }
        finally
        {
            foreach (var worker in workers) worker.Dispose();
        }
    }

    private WorkerOrder Order(WorkloadKind kind, string target) =>
        new(kind, target, parameters.InFlight, parameters.Size, parameters.Seconds)
        {
            Setting = new WorkloadSetting { Batch = batch },
        };

    private GrpcReport Report()
    {
        var median = RoundResult.Median(_appends);
        var (grpcEcho, native) = (RoundResult.Median(_grpcEchoes), RoundResult.Median(_natives));
        return new GrpcReport(
            "append --grpc", RunInfo.Current, parameters, batch, median, _appends, grpcEcho, native,
            RoundResult.Median(_echoes), RoundResult.Median(_disks), median.PerSecond / grpcEcho.PerSecond,
            median.PerSecond * batch / native.PerSecond);
    }
}
