using Salus.Coordination.Rules;

namespace Salus.Region.Tests.Support;

/// <summary>A writer with its own tree of the whole volume: batches, retransmission and verified reads.</summary>
internal sealed class TestDriver(TestWorld world)
{
    private readonly Signer _signer = new(new Incarnation(Guid.NewGuid()));
    private readonly VolumeTop _top = new(world.Geometry.Regions);
    private readonly RegionTree[] _trees = new RegionTree[world.Geometry.Regions];
    private readonly long[] _lasts = new long[world.Geometry.Regions];
    private readonly Dictionary<(int Region, int Block), byte> _model = [];
    private readonly Lock _gate = new();
    private CommitProof? _commit;
    private int? _leader;

    public long Run { get; private set; }

    public long Number { get; private set; }

    public CommitProof? Commit
    {
        get
        {
            lock (_gate) return _commit;
        }
    }

    /// <summary>Begins a run and opens it: the regions report and void, and the roots are compared.</summary>
    public async Task MountAsync()
    {
        await BeginAsync();
        await OpenAsync();
    }

    public async Task<RunDecision> BeginAsync()
    {
        world.Map.Must(state => VolumeRules.BeginRun(state, state.Head.Token + 1, _signer.Incarnation));
        Run = world.Map.State.Head.Run;
        return (await world.WaitAsync(state => state.Head.Phase == RunPhase.Decided)).Head.Decision!;
    }

    public async Task OpenAsync()
    {
        var decision = world.Map.State.Head.Decision!;
        for (var region = 0; region < _trees.Length; region++)
        {
            var status = await AskAsync(region, generation =>
                new RegionStatusRequest(generation, world.Key(region), Run, decision.Batch.Number));
            var tree = await AskAsync(region, generation =>
                new ReadTreeRequest(generation, world.Key(region), [], 0, null));
            var page = await AskAsync(region, generation =>
                new ReadTreeRequest(generation, world.Key(region), [0], 0, null));
            _trees[region] = RegionTree.FromPages(tree.PageHashes.AsSpan());
            Assert.True(_trees[region].TryLoad(0, new TreePage(page.Pages[0].AsSpan())));
            Assert.Equal(status.Root, _trees[region].Root);
            _top.Set(region, status.Root);
            _lasts[region] = status.Last.Number;
        }

        Assert.Equal(decision.VolumeRoot, _top.Root);
        world.Map.Must(state => VolumeRules.Opened(state, Run, _top.Root,
            [.. state.Regions.Values.Select(region => region.Current.Number.Value)]));
        (Number, _leader) = (decision.Batch.Number, null);
        _model.Clear();
        world.History.RemoveRange((int)Number, world.History.Count - (int)Number);
        foreach (var (region, block, value) in world.History.SelectMany(static changes => changes))
            _model[(region, block)] = value;
    }

    /// <summary>The next batch: a block with that byte, or an empty one for 0.</summary>
    public TestBatch Make(params (int Region, int Block, byte Value)[] changes)
    {
        var regions = changes.GroupBy(static change => change.Region).OrderBy(static group => group.Key).ToArray();
        var parts = new List<(
            int Region, ImmutableArray<BlockWrite> Writes, ImmutableArray<ZeroRange> Zeros, byte[] Data)>();
        var participants = ImmutableArray.CreateBuilder<Participant>();
        Number++;
        foreach (var group in regions)
        {
            var blocks = group.OrderBy(static change => change.Block).ToArray();
            byte[] data = [.. blocks.Where(static change => change.Value != 0)
                .SelectMany(change => Enumerable.Repeat(change.Value, world.Geometry.BlockSize))];
            ImmutableArray<BlockWrite> writes = [.. blocks.Where(static change => change.Value != 0)
                .Select(change => new BlockWrite(change.Block, TreeHash.OfBlock(BlockOf(change.Value))))];
            ImmutableArray<ZeroRange> zeros = [.. blocks.Where(static change => change.Value == 0)
                .Select(static change => new ZeroRange(change.Block, 1))];
            _trees[group.Key].Apply(writes.AsSpan(), zeros.AsSpan());
            _top.Set(group.Key, _trees[group.Key].Root);
            participants.Add(new Participant(group.Key, _lasts[group.Key], _trees[group.Key].Root));
            _lasts[group.Key] = Number;
            parts.Add((group.Key, writes, zeros, data));
        }

        foreach (var (region, block, value) in changes) _model[(region, block)] = value;
        if (world.Map.State.Head.Run == Run) world.History.Add(changes);
        var leader = _leader is { } before && regions.Any(group => group.Key == before) ? before : regions[^1].Key;
        var header = new BatchHeader
        {
            Volume = TestWorld.Volume,
            Run = Run,
            Number = Number,
            Driver = _signer.Incarnation,
            Participants = participants.DrainToImmutable(),
            Leader = leader,
            PreviousLeader = _leader,
            VolumeRoot = _top.Root,
        };
        _leader = leader;
        var signature = header.SignedBy(_signer);
        return new TestBatch(header, parts.ToDictionary(static part => part.Region, part => new SubBatch(
            header, signature, part.Region, world.Geometry.BlockSize, part.Writes, part.Zeros, part.Data)));
    }

    /// <summary>A batch in which all regions take part, and that changes nothing.</summary>
    public TestBatch MakeMarker()
    {
        Number++;
        var header = new BatchHeader
        {
            Volume = TestWorld.Volume,
            Run = Run,
            Number = Number,
            Driver = _signer.Incarnation,
            Participants =
                [.. _trees.Select((tree, region) => new Participant(region, _lasts[region], tree.Root))],
            Leader = _leader ?? 0,
            PreviousLeader = _leader,
            VolumeRoot = _top.Root,
            IsMarker = true,
        };
        Array.Fill(_lasts, Number);
        _leader = header.Leader;
        var signature = header.SignedBy(_signer);
        return new TestBatch(header, Enumerable.Range(0, _trees.Length).ToDictionary(region => region, region =>
            new SubBatch(header, signature, region, world.Geometry.BlockSize, [], [], default)));
    }

    /// <summary>Sends a batch until it is committed.</summary>
    /// <exception cref="RefusedException">A region refuses it.</exception>
    public async Task CommitAsync(TestBatch batch) => await Task.WhenAll(
        batch.Parts.Values.Select(part => SendAsync(part, batch.Header, TestContext.Current.CancellationToken)));

    public Task CommitAsync(params (int Region, int Block, byte Value)[] changes) => CommitAsync(Make(changes));

    /// <summary>A single attempt, whose answer may be none.</summary>
    public async Task<PutBatchResponse?> TrySendAsync(SubBatch part)
    {
        var current = world.Map.State.Regions[part.Region].Current;
        return await TryCallAsync(new NodeId(current.Members[0].Incarnation.Value),
            new PutBatchRequest(current.Number, part.Key, part.Encode(), Commit));
    }

    public async Task<GetResponse?> GetAsync(
        TestNode node, int region, int first, int count, long snapshot = 0) =>
        await TryCallAsync(node.Server.Id, new GetRequest(world.Map.State.Regions[region].Current.Number,
            world.Key(region), first, count, _lasts[region], Commit, snapshot));

    /// <summary>All blocks, read at all members, are those of the model.</summary>
    public async Task CheckAsync()
    {
        for (var region = 0; region < _trees.Length; region++)
        {
            for (var member = 0; member < world.Geometry.Copies; member++)
            {
                var since = Environment.TickCount64;
                GetResponse? read;
                while ((read = await GetAsync(world.Member(region, member), region, 0, 16)) is not { IsOk: true })
                    await world.PauseAsync(since);
                for (var block = 0; block < 16; block++)
                {
                    var data = read.Blocks[block];
                    var hash = data.IsEmpty ? default : TreeHash.OfBlock(data.Span);
                    Assert.True(_trees[region].TryGetLeaf(block, out var leaf));
                    Assert.Equal(leaf, hash);
                    var expected = _model.GetValueOrDefault((region, block));
                    Assert.True(data.IsEmpty ? expected == 0 : data.Span.SequenceEqual(BlockOf(expected)));
                }
            }
        }
    }

    private byte[] BlockOf(byte value)
    {
        var block = new byte[world.Geometry.BlockSize];
        Array.Fill(block, value);
        return block;
    }

    /// <summary>Sends a part of a batch until nothing more comes of it.</summary>
    public async Task SendAsync(SubBatch part, BatchHeader header, CancellationToken cancellationToken)
    {
        while (!(Commit?.Batch.Number >= header.Number))
        {
            var answer = await TrySendAsync(part);
            switch (answer?.Status)
            {
                case Status.Ok when part.Region != header.Leader:
                    return;
                case Status.Ok:
                    Take(answer.Commit!);
                    break;
                case SalusStatus.RunOver or Status.NoSpace or SalusStatus.Diverged or Status.Corrupt:
                    throw new RefusedException(answer.Status);
            }

            await Task.Delay(2, cancellationToken);
        }
    }

    private void Take(CommitProof proof)
    {
        Assert.True(world.Map.State.Proves(proof));
        lock (_gate)
        {
            if (!(_commit?.Batch.Number >= proof.Batch.Number)) _commit = proof;
        }
    }

    private async Task<TResponse> AskAsync<TResponse>(int region, Func<Epoch, Request<TResponse>> request)
        where TResponse : Response
    {
        var since = Environment.TickCount64;
        while (true)
        {
            var current = world.Map.State.Regions[region].Current;
            if (await TryCallAsync(world.Primary(region).Server.Id, request(current.Number)) is { IsOk: true } response)
                return response;
            await world.PauseAsync(since);
        }
    }

    private async Task<TResponse?> TryCallAsync<TResponse>(NodeId node, Request<TResponse> request)
        where TResponse : Response
    {
        try
        {
            return await world.Network.Transport.CallAsync(
                new NodeAddress(node, new NodeEndpoint("node", 1)), request,
                TestContext.Current.CancellationToken);
        }
        catch (TransportException)
        {
            return null;
        }
    }
}

/// <param name="Parts">By region.</param>
internal sealed record TestBatch(BatchHeader Header, IReadOnlyDictionary<int, SubBatch> Parts);

internal sealed class RefusedException(Status status) : Exception($"{status}")
{
    public Status Status => status;
}
