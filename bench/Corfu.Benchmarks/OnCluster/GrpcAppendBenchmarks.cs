using BenchmarkDotNet.Attributes;
using Corfu.Grpc.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Google.Protobuf;
using Grpc.Net.Client;

namespace Corfu.Benchmarks;

/// <summary>Durable appends over gRPC, through a front end in a process of its own: by one call each, and by the client
/// for .NET, whose appends share messages of a stream.</summary>
[OnCluster]
public class GrpcAppendBenchmarks : ClusterBenchmarks
{
    private readonly NewEntry _entry = new() { Payload = ByteString.CopyFrom(new byte[Size]) };
    private ChildProcess? _frontEnd;
    private GrpcChannel? _channel;
    private LogService.LogServiceClient _calls = null!;
    private GrpcCorfuLog? _log;

    [Params(1, 64, 512)]
    public override int InFlight { get; set; }

    [Benchmark(OperationsPerInvoke = Operations)]
    public Task CallAppend128Bytes() => RunAsync(async _ =>
    {
        var answer = await _calls.AppendAsync(new AppendRequest { Entry = _entry });
        if (answer.Result.Outcome != Outcome.Appended)
            throw new IOException($"The append ended as {answer.Result.Outcome}.");
    });

    [Benchmark(OperationsPerInvoke = Operations)]
    public Task Append128Bytes() => RunAsync(async _ => (await _log!.AppendAsync(Payload, [])).Require());

    protected override async Task PrepareAsync()
    {
        _frontEnd = await ChildProcess.StartAsync(GrpcProcess.Name, Connection);
        _channel = GrpcChannel.ForAddress(_frontEnd.Address);
        _calls = new LogService.LogServiceClient(_channel);
        _log = await GrpcCorfuLog.ConnectAsync(_frontEnd.Address);
    }

    protected override async ValueTask EndAsync()
    {
        if (_log is not null) await _log.DisposeAsync();
        _channel?.Dispose();
        _frontEnd?.Dispose();
    }
}
