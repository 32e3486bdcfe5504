using System.Globalization;
using Corfu.Agent;
using Corfu.Client;
using Grpc.Core;
using Microsoft.Extensions.Options;
using V1 = Corfu.Grpc.Protocol.Admin.V1;

namespace Corfu.Grpc;

/// <summary><c>corfu.admin.v1</c>.</summary>
internal sealed class AdminEndpoint(
    AdminConnection connection, IOptions<CorfuGrpcOptions> options, TimeProvider time, HostStop host)
    : V1.AdminService.AdminServiceBase
{
    private const int DefaultEpochs = 50;
    private const int MaxEpochs = 10_000;
    private static readonly TimeSpan ProgressInterval = TimeSpan.FromMilliseconds(500);

    public override async Task<V1.StatusResponse> Status(V1.StatusRequest request, ServerCallContext context)
    {
        var session = await connection.OpenAsync(context.CancellationToken);
        var projection = await session.Cluster.RefreshAsync(context.CancellationToken);
        var agents = await session.AgentsAsync(context.CancellationToken);
        var response = new V1.StatusResponse
        {
            Projection = AdminMessages.Of(projection),
            TrimMark = LogMessages.ToMessage(projection.TrimMark),
            ClusterId = projection.Cluster.ToString(),
            Nodes = { ReportsOf(agents) },
            Work =
            {
                agents.SelectMany(static agent => agent.Info.Work.Select(
                    work => AdminMessages.Of(agent.Agent, work))),
            },
            HeldBack =
            {
                agents.Select(static agent => agent.Info.Note).Where(static note => note.Length > 0).Distinct(),
            },
        };
        if (agents.MaxBy(static agent => agent.Info.Epoch) is { } newest)
            response.Automatic = newest.Info.Automation.IsOn;
        try
        {
            var log = await connection.OpenLogAsync(context.CancellationToken);
            var check = await log.CheckAsync([], cancellationToken: context.CancellationToken);
            response.Tail = LogMessages.ToMessage(check.Tail);
        }
        catch (LogUnavailableException)
        {
            // The rest of the text is the reason.
        }

        return response;
    }

    public override async Task<V1.HistoryResponse> History(V1.HistoryRequest request, ServerCallContext context)
    {
        if (request.PageSize is < 0 or > MaxEpochs)
            throw new RequestException($"page_size: between 1 and {MaxEpochs}, or zero for {DefaultEpochs}.");
        var session = await connection.OpenAsync(context.CancellationToken);
        var count = request.PageSize == 0 ? DefaultEpochs : request.PageSize;
        var newest = request.PageToken.Length == 0
            ? (await session.Cluster.RefreshAsync(context.CancellationToken)).Epoch
            : EpochOf(request.PageToken);
        var history = await session.Cluster.ReadHistoryAsync(newest, count, context.CancellationToken);
        var response = new V1.HistoryResponse { Epochs = { history.Select(AdminMessages.Of) } };
        // A short page ends at the oldest epoch that is kept.
        if (history.Length == count && history[^1].Epoch > Epoch.First)
            response.NextPageToken = (history[^1].Epoch.Value - 1).ToString(CultureInfo.InvariantCulture);
        return response;
    }

    public override Task Reconfigure(
        V1.ReconfigureRequest request, IServerStreamWriter<V1.ReconfigureEvent> responseStream,
        ServerCallContext context)
    {
        if (options.Value is { AllowAdmin: false, RequireRights: false })
            throw new NotAllowedException("changes of the cluster", nameof(CorfuGrpcOptions.AllowAdmin));
        return host.RunAsync(context, stop => connection.RunChangeAsync(
            Callers.NameOf(context), session => ReconfigureAsync(session, request, responseStream, stop), stop));
    }

    // The newest epoch of the page.
    private static Epoch EpochOf(string pageToken) =>
        long.TryParse(pageToken, NumberStyles.None, CultureInfo.InvariantCulture, out var epoch) && epoch > 0
            ? new Epoch(epoch)
            : throw new RequestException("page_token: none that this service has given out.");

    /// <summary>An agent judges the processes that it watches: the newest epoch's counts.</summary>
    private static IEnumerable<V1.NodeReport> ReportsOf(ImmutableArray<AgentAnswer> agents) => agents
        .OrderByDescending(static agent => agent.Info.Epoch)
        .SelectMany(static agent => agent.Info.Nodes)
        .DistinctBy(static report => report.Address.Id)
        .OrderBy(static report => report.Address.Endpoint)
        .ThenBy(static report => report.Role)
        .Select(AdminMessages.Of);

    private async Task ReconfigureAsync(
        OperatorSession session, V1.ReconfigureRequest request, IServerStreamWriter<V1.ReconfigureEvent> responses,
        CancellationToken stop)
    {
        await session.Cluster.RefreshAsync(stop);
        var change = AdminChange.Start(session, request, stop);
        using var pause = new PeriodicTimer(ProgressInterval, time);
        while (await Task.WhenAny(change.Work, pause.WaitForNextTickAsync(stop).AsTask()) != change.Work)
        {
            stop.ThrowIfCancellationRequested();
            if (change.Progress?.Invoke() is { Total: > 0 } progress)
                await responses.WriteAsync(
                    new V1.ReconfigureEvent { Progress = AdminMessages.Of(progress) }, stop);
        }

        var projection = await change.Work;
        // The last progress is sent for short work too.
        if (change.Progress?.Invoke() is { Total: > 0 } last)
            await responses.WriteAsync(new V1.ReconfigureEvent { Progress = AdminMessages.Of(last) }, stop);
        await responses.WriteAsync(
            new V1.ReconfigureEvent { Done = new V1.Done { Projection = AdminMessages.Of(projection) } }, stop);
    }
}
