using Corfu.Client;
using Corfu.Hosting;
using Corfu.Transport;

namespace Corfu.Fuzz;

/// <summary>
/// Well-formed requests that change state, to every role of a running cluster: positions up to the highest, epochs
/// below and above, foreign identities, the largest counts. Each may be refused or carried out. After every round the
/// cluster is stopped and started on its folder: every unit must come up healthy, and a client must append, check and
/// read. Out of scope is what decides for the cluster, as any client may (docs/protocol.md, Trust): a whole projection
/// of a later epoch that says it was decided, or that is proposed for the next one.
/// </summary>
public sealed class RequestFuzz(int seed, TextWriter output)
{
    private const int RoundLength = 5_000;
    private const int InFlight = 128;
    private const int Probes = 12;
    private const int MostStreams = 64;

    private static readonly StreamId s_stream = StreamId.FromName("fuzz");
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    // Acknowledged between the rounds: later requests may trim them, and nothing else may become of them.
    private readonly List<(LogPosition Position, long Value)> _written = [];
    private readonly SortedDictionary<string, int> _answers = new(StringComparer.Ordinal);
    private ImmutableArray<NodeAddress> _agents = [];
    private FuzzRandom _random;
    private long _values;

    /// <summary>No position is further above the log's end than this.</summary>
    public long Reach { get; init; } = long.MaxValue;

    public async Task<bool> RunAsync(long requests)
    {
        var folder = Directory.CreateTempSubdirectory("corfu-fuzz-cluster-").FullName;
        var sent = 0L;
        var rounds = 0;
        string? trouble = null;
        try
        {
            while (trouble is null && sent < requests)
            {
                _random = FuzzRandom.For(seed, "requests", rounds);
                var count = (int)Math.Min(RoundLength, requests - sent);
                trouble = await RoundAsync(folder, count);
                sent += count;
                if (rounds++ % 10 == 0) await output.WriteLineAsync($"requests: {sent} of {requests}, {rounds} rounds");
            }

            trouble ??= await ServesAsync(folder);
            if (trouble is not null) trouble += $" (seed {seed}, round {rounds - 1})";
            await output.WriteLineAsync(
                $"{"requests",-18} sent {sent,9} rounds {rounds} still readable {_written.Count}"
                + $"{(trouble is null ? "" : " FINDING " + trouble)}");
            foreach (var (answer, times) in _answers) await output.WriteLineAsync($"  {answer,-32} {times,9}");
            return trouble is null;
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private static EmbeddedClusterOptions Options(string folder) =>
        new() { Folder = folder, Units = 3, Replicas = 2, Automatic = false };

    // A refused request may cost the connection: the next one takes another at once.
    private static TcpTransportOptions Unforgiving(ClusterId cluster) => new()
    {
        Cluster = cluster,
        FirstBackOff = TimeSpan.FromMilliseconds(1),
        MaxBackOff = TimeSpan.FromMilliseconds(1),
    };

    private async Task<string?> RoundAsync(string folder, int count)
    {
        EmbeddedCluster cluster;
        try
        {
            cluster = await EmbeddedCluster.StartAsync(Options(folder));
        }
        catch (Exception e)
        {
            return $"the cluster does not start: {e.GetType().Name}: {e.Message}";
        }

        await using (cluster)
        {
            if (await LooksGoodAsync(cluster) is { } trouble) return trouble;
            await using var client = await cluster.ConnectAsync();
            var projection = client.Projection;
            var tail = (await client.CheckAsync([])).Tail.Offset;
            using var transport = new TcpTransport(Unforgiving(projection.Cluster));
            _agents = await AgentsAsync(transport, projection);
            var running = new List<Task>(InFlight);
            for (var i = 0; i < count; i++)
            {
                running.Add(SendAsync(transport, projection, tail));
                if (running.Count < InFlight) continue;
                await Task.WhenAll(running);
                running.Clear();
            }

            await Task.WhenAll(running);
            return null;
        }
    }

    private static async Task<ImmutableArray<NodeAddress>> AgentsAsync(TcpTransport transport, Projection projection)
    {
        var endpoints = projection.Units.Select(unit => unit.Endpoint).Distinct().ToList();
        var nodes = await Task.WhenAll(endpoints.Select(e => transport.DescribeAsync(e, default).AsTask()));
        return
        [
            .. from node in endpoints.Zip(nodes)
               from role in node.Second.Roles
               where role.Role == NodeRole.Agent
               select new NodeAddress(role.Id, node.First),
        ];
    }

    private async Task<string?> ServesAsync(string folder)
    {
        try
        {
            await using var cluster = await EmbeddedCluster.StartAsync(Options(folder));
            return await LooksGoodAsync(cluster);
        }
        catch (Exception e)
        {
            return $"the cluster does not start: {e.GetType().Name}: {e.Message}";
        }
    }

    private async Task<string?> LooksGoodAsync(EmbeddedCluster cluster)
    {
        using var limit = new CancellationTokenSource(s_patience);
        var step = "connecting";
        try
        {
            await using var client = await cluster.ConnectAsync(cancellationToken: limit.Token);
            using var transport = new TcpTransport(new TcpTransportOptions { Cluster = client.Projection.Cluster });
            step = "asking the units";
            foreach (var unit in client.Projection.Units)
            {
                var info = await transport.CallAsync(unit, new UnitInfoRequest(Epoch.None), limit.Token);
                if (info.Health != UnitHealth.Ok) return $"unit {unit} is {info.Health}: {info.Reason}";
            }

            step = "appending";
            for (var i = 0; i < Probes; i++)
            {
                var value = _values++;
                var at = await client.AppendAsync(BitConverter.GetBytes(value), [s_stream], limit.Token);
                _written.Add((at.Require(), value));
            }

            step = "checking";
            var tail = (await client.CheckAsync([s_stream], cancellationToken: limit.Token)).Tail;
            if (tail <= _written[^1].Position) return $"the tail is {tail}, {_written[^1].Position} was acknowledged";
            step = "reading";
            foreach (var (position, value) in _written.ToArray())
            {
                var read = (await client.ReadManyAsync([position], cancellationToken: limit.Token))[0];
                if (read.State == PageState.Trimmed && value < _values - Probes) _written.Remove((position, value));
                else if (!read.IsData || BitConverter.ToInt64(read.Entry!.Payload.Span) != value)
                    return $"{position} reads as {read.State}, it was acknowledged";
            }

            step = "reading every replica";
            foreach (var (position, _) in _written.TakeLast(Probes))
            {
                foreach (var replica in client.Projection.ChainOf(position).Replicas)
                {
                    var request = new ReadRequest(client.Projection.Epoch, [position], ReadDetail.State);
                    var unit = client.Projection.AddressOf(replica.Unit);
                    var page = (await transport.CallAsync(unit, request, limit.Token)).Pages[0];
                    if (page.State != PageState.Data) return $"unit {unit} answers {page.State} for {position}";
                }
            }

            return null;
        }
        catch (Exception e)
        {
            return $"{step}: {e.GetType().Name}: {e.Message}";
        }
    }

    private Task SendAsync(TcpTransport transport, Projection p, long tail)
    {
        var unit = p.Units[_random.Next(p.Units.Length)];
        var acceptor = p.Acceptors[_random.Next(p.Acceptors.Length)];
        var epoch = AnyEpoch(p.Epoch);
        var at = Position(tail, p.Epoch);
        switch (_random.Next(24))
        {
            case 0: return Call(unit, new WriteRequest(epoch, Entry(at, EntryKind.Data)));
            case 1: return Call(unit, new CompleteRequest(epoch, Entry(at, AnyKind())));
            case 2 or 3: return Call(unit, new FillRequest(epoch, Entry(at, EntryKind.Junk)));
            case 4: return Call(unit, new RepairRequest(epoch, Entry(at, AnyKind())));
            case 5: return Call(unit, new CompleteManyRequest(epoch, Many(4, () => Memory(Position(tail, p.Epoch)))));
            case 6 or 7: return Call(unit, new TrimRequest(epoch, at, Tombstone(tail, p.Epoch)));
            // A mark above the tail leaves nothing to write below it: rarely.
            case 8:
                return Call(unit,
                    new TrimPrefixRequest(epoch, _random.OneIn(50) ? at : LogPosition.Min(at, new LogPosition(tail))));
            case 9:
                return Call(unit,
                    new WriteRequest(epoch, Entry(new LogPosition(tail + _random.Next(64), epoch), EntryKind.Data)));
            case 10 when _random.OneIn(4):
                // A seal that is taken leaves little to ask for in this epoch: rarely.
                return Call(unit, new SealRequest(new Epoch(_random.OneIn(20) ? Next(p.Epoch) : Far())));
            case 11: return Call(unit, new InstallRequest(Forged(p, tail)));
            case 22:
                return _random.Next(3) switch
                {
                    0 => Call(unit, new InstallRequest(FarAhead(p))),
                    1 => Call(p.Sequencer, new BootstrapRequest(FarAhead(p))),
                    _ => Call(acceptor, new DecidedRequest(FarAhead(p))),
                };
            case 12: return Call(unit, new ImportStreamTailsRequest(epoch, Tails(tail)));
            case 13:
                return Call(unit,
                    new ListStreamTailsRequest(epoch, at,
                        new StreamListCursor(AnyNumber(), (int)(_random.Next() >> 33))));
            case 14: return Call(unit, new ReadRequest(epoch, Many(4096, () => Position(tail, p.Epoch)), AnyDetail()));
            case 15:
                return Call(p.Sequencer, new TokenRequest(epoch, AnyCount(), Streams(), (ushort)_random.Next(1 << 16)));
            case 16: return Call(p.Sequencer, new BootstrapRequest(Forged(p, tail)));
            case 17: return Call(p.Sequencer, new LoadStreamsRequest(epoch, Tails(tail)));
            case 18: return Call(p.Sequencer, new GrantsRequest(epoch, Many(4096, () => Position(tail, p.Epoch))));
            case 19:
                return Call(p.Sequencer,
                    new AdvanceRequest(epoch, at, at + Math.Min(9, long.MaxValue - at.Offset), []));
            case 20:
                var slot = _random.Next(3) switch { 0 => Next(p.Epoch), 1 => Far(), _ => epoch.Value };
                return Call(acceptor,
                    new PrepareRequest(new Epoch(slot), new Ballot(AnyNumber(), Guid.AllBitsSet)));
            case 21: return AskAgentAsync(transport, p, epoch);
            default: return Call(acceptor, new AcceptRequest(new Ballot(AnyNumber(), Guid.Empty), Forged(p, tail)));
        }

        Task Call<TResponse>(NodeAddress to, Request<TResponse> request)
            where TResponse : Response => SayAsync(transport, to, request);
    }

    private Task AskAgentAsync(TcpTransport transport, Projection p, Epoch epoch)
    {
        if (_agents.IsEmpty) return Task.CompletedTask;
        var agent = _agents[_random.Next(_agents.Length)];
        var suspect = p.Units[_random.Next(p.Units.Length)];
        // Nothing listens at the lowest ports.
        var from = _random.OneIn(4) ? new NodeEndpoint("127.0.0.1", 1 + _random.Next(8)) : suspect.Endpoint;
        var automation = new Automation(AnyNumber(), IsOn: false);
        return _random.Next(5) switch
        {
            0 => SayAsync(transport, agent, new AgentInfoRequest(epoch)),
            1 => SayAsync(transport, agent, new SetAutomationRequest(epoch, automation)),
            2 => SayAsync(transport, agent, new SuspicionRequest(epoch, (NodeRole)_random.Next(6), suspect)),
            3 => SayAsync(transport, agent, new ProcessInfoRequest(epoch)),
            _ => SayAsync(transport, agent,
                new PingRequest(epoch, new NodeAddress(suspect.Id, from), _random.OneIn(2), automation)),
        };
    }

    private long Next(Epoch now) => now.Value + 1 + _random.Next(3);

    // Small numbers are refused as ended epochs, the others as too far ahead.
    private long Far() => _random.OneIn(4) ? long.MaxValue - _random.Next(3) : AnyNumber();

    private async Task SayAsync<TResponse>(TcpTransport transport, NodeAddress to, Request<TResponse> request)
        where TResponse : Response
    {
        string answer;
        try
        {
            using var limit = new CancellationTokenSource(s_patience);
            answer = (await transport.CallAsync(to, request, limit.Token)).Status.ToString();
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException or EntryTooLargeException)
        {
            answer = e.GetType().Name;
        }

        answer = $"{request.Opcode} {answer}";
        lock (_answers) _answers[answer] = _answers.GetValueOrDefault(answer) + 1;
    }

    // A projection of this epoch or an older one, or of another cluster: none of them decides for the next epoch.
    private Projection Forged(Projection p, long tail)
    {
        var start = _random.OneIn(2) ? p.Start : Position(tail, p.Epoch);
        start = LogPosition.Max(start, p.Active.From);
        var cluster = _random.OneIn(4)
            ? new ClusterId(new Guid(1 + _random.Next(1000), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            : p.Cluster;
        var foreign = _random.OneIn(4)
            ? p.Sequencer with { Id = new NodeId(new Guid(7, 7, 7, new byte[8])) }
            : p.Sequencer;
        var epoch = cluster == p.Cluster ? Past(AnyEpoch(p.Epoch), p) : new Epoch(Math.Max(1, AnyNumber()));
        return new Projection(
            cluster, epoch, foreign, start, p.TrimMark, p.Segments, p.Units, p.Acceptors, "forged");
    }

    // Out of every node's reach, so refused.
    private Projection FarAhead(Projection p)
    {
        var epoch = Math.Max(p.Epoch.Value + (2 * MessageLimits.EpochReach), AnyNumber());
        return new Projection(p.Cluster, new Epoch(epoch), p.Sequencer, p.Start, p.TrimMark, p.Segments, p.Units,
            p.Acceptors, "forged");
    }

    private static Epoch Past(Epoch epoch, Projection p) => new(Math.Clamp(epoch.Value, 1, p.Epoch.Value));

    private Epoch AnyEpoch(Epoch now) => _random.Next(16) switch
    {
        0 => new Epoch(Math.Max(0, now.Value - 1)),
        1 => now.Next,
        2 => new Epoch(AnyNumber()),
        3 => Epoch.None,
        _ => now,
    };

    private LogPosition Position(long tail, Epoch epoch)
    {
        var offset = _random.Next(10) switch
        {
            0 => AnyNumber(),
            1 => tail + (1L << 40) + _random.Next(5) - 2,
            2 => tail + _random.Next(1 << 20),
            3 => long.MaxValue - _random.Next(3),
            4 => 0,
            5 => tail + _random.Next(16),
            _ => tail - Math.Min(tail, _random.Next(64)),
        };
        return new LogPosition(Math.Clamp(offset, 0, Reach > long.MaxValue - tail ? long.MaxValue : tail + Reach),
            _random.OneIn(4) ? default : epoch);
    }

    private long AnyNumber() => (long)(_random.Next() >> (1 + _random.Next(63)));

    // Rarely a number that the codec refuses: that costs the connection, with all requests in flight.
    private int AnyCount() =>
        _random.OneIn(200) ? (int)(_random.Next() >> 33) : 1 + _random.Next(1 << _random.Next(17));

    private EntryKind AnyKind() => _random.OneIn(2) ? EntryKind.Data : EntryKind.Junk;

    private ReadDetail AnyDetail() => (ReadDetail)_random.Next(Enum.GetValues<ReadDetail>().Length);

    private ReadOnlyMemory<byte> Memory(LogPosition at) => Entry(at, AnyKind());

    private ReadOnlyMemory<byte> Tombstone(long tail, Epoch epoch) =>
        _random.OneIn(2) ? default : Memory(Position(tail, epoch));

    private byte[] Entry(LogPosition at, EntryKind kind)
    {
        var writer = new WriterId(new Guid(_random.Next(4), 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));
        ImmutableArray<StreamHeader> headers =
        [
            .. Streams().Distinct().Select(stream => new StreamHeader(stream, Backpointers(at))),
        ];
        var payload = kind == EntryKind.Junk ? [] : new byte[_random.Next(1 << _random.Next(12))];
        var origin = new EntryOrigin(writer, _random.Next(8));
        return EntryCodec.Encode(new LogEntry(at, origin, kind, DateTimeOffset.UnixEpoch, headers, payload));
    }

    // Streams without an owner: the probes' streams are not touched, since any client may append to any stream.
    private ImmutableArray<StreamId> Streams() =>
        [.. Many(_random.OneIn(20) ? MostStreams : 3, () => new StreamId(1000 + ((ulong)AnyNumber() % 5000)))
            .Distinct()];

    private ImmutableArray<LogPosition> Backpointers(LogPosition at) =>
    [
        .. Many(StreamHeader.MaxBackpointers, () => new LogPosition(at.Offset == 0 ? 0 : AnyNumber() % at.Offset))
            .Distinct().OrderDescending().Where(p => p < at),
    ];

    private ImmutableArray<StreamTail> Tails(long tail) =>
    [
        .. Streams().Order().Select(stream => new StreamTail(
            stream,
            [.. Many(StreamHeader.MaxBackpointers, () => Position(tail, default)).Distinct().OrderDescending()])),
    ];

    private ImmutableArray<T> Many<T>(int most, Func<T> make)
    {
        var items = ImmutableArray.CreateBuilder<T>();
        for (var left = _random.OneIn(50) ? most : _random.Next(Math.Min(most, 8)); left >= 0; left--)
        {
            if (items.Count == most) break;
            items.Add(make());
        }

        return items.ToImmutable();
    }
}
