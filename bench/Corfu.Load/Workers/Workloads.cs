using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Load;

/// <summary>Opens the target that an order names.</summary>
internal static class Workloads
{
    public static async Task<IWorkload> OpenAsync(WorkloadKind kind, string target, WorkloadSetting setting,
        Sessions sessions) => kind switch
        {
            WorkloadKind.Echo => OpenEcho(target, setting.Connections),
            WorkloadKind.Token => new TokenWorkload(BareRole.Parse(target)),
            WorkloadKind.StreamToken or WorkloadKind.DecidedToken => new StreamTokenWorkload(
                BareRole.Parse(target), setting, kind == WorkloadKind.DecidedToken),
            WorkloadKind.GrpcEcho => new GrpcEchoWorkload(target, setting.Batch),
            WorkloadKind.GrpcAppend => new GrpcAppendWorkload(target, setting.Batch),
            WorkloadKind.TextGet or WorkloadKind.TextSet => new TextWorkload(kind, target, setting.OwnConnections),
            WorkloadKind.EtcdPut or WorkloadKind.EtcdRange or WorkloadKind.EtcdLocalRange =>
                new EtcdWorkload(kind, target, setting.Connections),
            >= WorkloadKind.CraqGet and <= WorkloadKind.CraqTransact =>
                new CraqWorkload(kind, setting, await sessions.CraqAsync(target)),
            _ => await ClusterWorkloads.OpenAsync(kind, target, setting, sessions),
        };

    /// <param name="connections">Shared out among the callers.</param>
    public static IWorkload OpenEcho(string target, int connections = 1) =>
        new EchoWorkload(BareRole.Parse(target), connections);

    private sealed class EchoWorkload(BareRole role, int connections) : IWorkload
    {
        private readonly TcpTransport[] _transports =
            [.. Enumerable.Range(0, connections).Select(_ => role.Connect())];

        public Func<int, ValueTask> Prepare(int callers, int size)
        {
            var request = new WriteRequest(Epoch.First, new byte[size]);
            return async caller =>
            {
                var transport = _transports[caller % _transports.Length];
                var response = await transport.CallAsync(role.Address, request, CancellationToken.None);
                if (!response.IsOk) throw CorfuStatusException.Create(response.Status, "echo");
            };
        }

        public ValueTask DisposeAsync()
        {
            foreach (var transport in _transports) transport.Dispose();
            return default;
        }
    }

    private sealed class TokenWorkload(BareRole role) : IWorkload
    {
        private readonly TcpTransport _transport = role.Connect();

        public Func<int, ValueTask> Prepare(int callers, int size)
        {
            var request = new TokenRequest(Epoch.First, 1, []);
            return async _ =>
            {
                var response = await _transport.CallAsync(role.Address, request, CancellationToken.None);
                if (!response.IsOk) throw CorfuStatusException.Create(response.Status, "token");
            };
        }

        public ValueTask DisposeAsync()
        {
            _transport.Dispose();
            return default;
        }
    }
}
