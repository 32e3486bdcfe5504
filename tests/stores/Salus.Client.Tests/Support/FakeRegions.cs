using Salus.Coordination.Rules;

namespace Salus.Client.Tests.Support;

/// <summary>All regions of a volume behind a network: accepts, votes, commits, reports and opens as region servers do,
/// and does harm as a test asks.</summary>
internal sealed class FakeRegions
{
    public const int Copies = 3;

    public static readonly VolumeId Id = new(new Guid(77, 0, 0, new byte[8]));

    private readonly FakeRegion[] _regions;
    private readonly SortedDictionary<long, BatchHeader> _headers = [];
    private readonly HashSet<int> _recovering = [];
    private int _nextNode = 1000;
    private ImmutableSortedDictionary<Guid, BookedNode> _nodes = ImmutableSortedDictionary<Guid, BookedNode>.Empty;
    private CommitProof? _proof;
    private TaskCompletionSource _progress = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public FakeRegions(VirtualTime time, Random random, int regions, int regionBlocks = 16)
    {
        (Time, Random) = (time, random);
        Geometry = VolumeGeometry.Create((long)regions * regionBlocks * 4096, 4096, regionBlocks, Copies);
        Log = new FakeVolumeLog(time, Geometry, Id,
            [.. Enumerable.Range(0, regions).Select(region => Members())])
        { Nodes = new NodeBookView(1, _nodes) };
        _regions = [.. Enumerable.Range(0, regions).Select(region => new FakeRegion(this, region, Geometry))];
        Log.Changed += _ => SeededContext.Loops.Start(FollowAsync);
    }

    public VirtualTime Time { get; }

    public Random Random { get; }

    public VolumeGeometry Geometry { get; }

    public FakeVolumeLog Log { get; }

    public List<string> Violations { get; } = [];

    /// <summary>The share of messages that are lost, each way.</summary>
    public double Loss { get; set; }

    /// <summary>The longest way of a message.</summary>
    public TimeSpan Delay { get; set; } = TimeSpan.FromMilliseconds(2);

    /// <summary>Members whose answers to reads have other blocks.</summary>
    public HashSet<Incarnation> Liars { get; } = [];

    /// <summary>Members that tell a root that their region does not have.</summary>
    public HashSet<Incarnation> WrongRoots { get; } = [];

    /// <summary>Members that answer nothing.</summary>
    public HashSet<Incarnation> Mute { get; } = [];

    /// <summary>Regions that do not report: a member does not answer the others.</summary>
    public HashSet<int> WithoutReport { get; } = [];

    /// <summary>Regions whose batches wait for members.</summary>
    public HashSet<int> Waiting { get; } = [];

    /// <summary>Answers a batch before the region sees it; null: the region does.</summary>
    public Func<SubBatch, Status?>? OnPut { get; set; }

    public List<(Incarnation Member, Request Request)> Asked { get; } = [];

    /// <summary>Stores that a recovery reads which finds everything.</summary>
    public int StoresRead { get; set; } = Copies;

    public long Free { get; set; } = 1L << 40;

    /// <summary>No batch is committed as long as this is set.</summary>
    public bool IsHeld { get; set; }

    public FakeRegion this[int region] => _regions[region];

    public CommitProof? Proof => _proof;

    public Incarnation Member(int region, int number) =>
        Log.State.Regions[region].Current.Members[number].Incarnation;

    public ITransport Transport(CancellationToken dead) => new Network(this, dead);

    public void Violated(string what) => Violations.Add(what);

    public void Publish(int region, CheckpointName checkpoint)
    {
        var current = Log.State.Regions[region].Current;
        // A generation that is not admitted cuts nothing.
        Log.Take(RegionRules.Publish(Log.State, region, current.Number, checkpoint,
            Sign(region, current, (key, generation) => Statement.Checkpoint(key, generation, checkpoint))));
    }

    /// <summary>A new generation with other members, which knows what the region has.</summary>
    /// <param name="lost">Newest batches that it does not find.</param>
    public async Task ReplaceAsync(int region, int lost = 0)
    {
        var current = Log.State.Regions[region].Current;
        if (!_recovering.Add(region)) return;
        Log.Take(RegionRules.Replace(Log.State, region, current.Number, Members()));
        await RecoverAsync(region, lost);
        _recovering.Remove(region);
    }

    public void SetState(StoreId store, BookedState state)
    {
        _nodes = _nodes.SetItem(store.Value, _nodes[store.Value] with { State = state });
        Log.Nodes = new NodeBookView(Log.Nodes.Revision + 1, _nodes);
    }

    public void Check() => Assert.True(Violations.Count == 0, string.Join("; ", Violations));

    private ImmutableArray<RegionMember> Members()
    {
        var members = ImmutableArray.CreateBuilder<RegionMember>();
        for (var i = 0; i < Copies; i++)
        {
            var number = _nextNode++;
            var store = new StoreId(new Guid(number, 1, 0, new byte[8]));
            var incarnation = new Incarnation(new Guid(number, 2, 0, new byte[8]));
            members.Add(new RegionMember(store, incarnation, true));
            _nodes = _nodes.SetItem(store.Value, new BookedNode(store, incarnation,
                new NodeEndpoint("127.0.0.1", number), "", 1L << 40, BookedState.Live, number));
        }

        if (Log is not null) Log.Nodes = new NodeBookView(_nextNode, _nodes);
        return members.ToImmutable();
    }

    private Certificate Sign(int region, RegionGeneration generation, Func<RegionKey, Epoch, Statement> statement)
    {
        var said = statement(new RegionKey(Id, region), generation.Number);
        return new Certificate(generation.Number,
            [.. generation.Members.Select(member => new Signer(member.Incarnation).Sign(said))]);
    }

    // Reports, openings and recoveries that the log asks for.
    private async Task FollowAsync()
    {
        await PauseAsync();
        foreach (var region in _regions)
        {
            var (head, known) = (Log.State.Head, Log.State.Regions[region.Number]);
            if (known.Current.Opening is null)
            {
                if (!_recovering.Contains(region.Number)) await RecoverAsync(region.Number, 0);
                continue;
            }

            if (head.Phase == RunPhase.Fencing && known.Report is null && !WithoutReport.Contains(region.Number))
                Report(region, head.Run, known.Current);
            if (head.Phase is RunPhase.Decided && region.Run < head.Run) Open(region, head.Decision!);
        }
    }

    private async Task RecoverAsync(int region, int lost)
    {
        await PauseAsync();
        var (state, fake) = (Log.State, _regions[region]);
        if (state.Regions[region].Current is not { Opening: null } current) return;
        // No recovery counts batches that an operator has given up.
        if (state.Head.Bar is { } bar && bar.Voids(fake.Committed)) fake.ReturnTo(bar.Batch.Number);
        // A recovery that read damaged stores: what it found ends earlier.
        var last = lost == 0 ? fake.Last : default;
        var index = ++fake.Index;
        var opening = new RegionOpening(
            index, Hash128.Of([7], index), Math.Max(1, fake.Run), last, lost == 0 ? StoresRead : 2);
        Log.Take(RegionRules.Recovered(state, region, current.Number, opening, Sign(region, current,
            (key, generation) => Statement.Opening(key, generation, index, opening.Chain, last))));
    }

    private void Report(FakeRegion region, long run, RegionGeneration current)
    {
        region.Run = Math.Max(region.Run, 0);
        ReportedBatch? last = region.Committed.IsNone || WithoutHeaders.Contains(region.Number)
            ? null
            : ReportedBatch.Of(_headers[region.Committed.Number]);
        var report = new RegionReport(run, _proof, last,
            [.. region.Above.Select(static batch => ReportedBatch.Of(batch.Header))]);
        Fenced = run;
        Log.Take(VolumeRules.Report(Log.State, region.Number, current.Number, report, Sign(region.Number, current,
            (key, generation) => Statement.Report(key, generation, report.Digest))));
    }

    /// <summary>Regions whose logs hold no batch: all of them are in a checkpoint.</summary>
    public HashSet<int> WithoutHeaders { get; } = [];

    /// <summary>Batches of lower runs are refused.</summary>
    public long Fenced { get; private set; }

    private void Open(FakeRegion region, RunDecision decision)
    {
        // A region that has more must be recovered first.
        if (region.Committed.Number > decision.Batch.Number) return;
        while (region.Above.Count > 0 && region.Last.Number > decision.Batch.Number) region.UndoNewest();
        while (region.Above.Count > 0) region.CommitOldest();
        region.Run = decision.Run;
        if (_regions.All(other => other.Run == decision.Run))
        {
            foreach (var number in _headers.Keys.Where(number => number > decision.Batch.Number).ToArray())
                _headers.Remove(number);
        }
    }

    // Commits in order all that all participants have.
    private void Decide()
    {
        if (IsHeld || Fenced > Log.State.Head.Run || Log.State.Head.Phase != RunPhase.Opened) return;
        while (true)
        {
            var next = (_proof?.Batch.Run == Log.State.Head.Run
                ? _proof.Batch.Number : Log.State.Head.Decision!.Batch.Number) + 1;
            if (!_headers.TryGetValue(next, out var header) || header.Run != Log.State.Head.Run) return;
            if (!header.Participants.All(one => _regions[one.Region].Has(header.Name))) return;
            foreach (var one in header.Participants)
            {
                if (_regions[one.Region].Above[0].Header.Name != header.Name)
                    Violated($"region {one.Region} commits {header.Name} out of order");
                _regions[one.Region].CommitOldest();
            }

            var leader = Log.State.Regions[header.Leader].Current;
            _proof = new CommitProof(header.Leader, header.Name, Sign(header.Leader, leader,
                (key, generation) => Statement.Committed(key, generation, header.Name)));
            var progress = _progress;
            _progress = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            progress.TrySetResult();
        }
    }

    /// <summary>A held volume goes on.</summary>
    public void Release()
    {
        IsHeld = false;
        Decide();
    }

    private Task PauseAsync() => Task.Delay(Delay * Random.NextDouble() + TimeSpan.FromTicks(1), Time);

    private async Task<Response> HandleAsync(Incarnation member, Request request)
    {
        var key = request switch
        {
            PutBatchRequest put => put.Region,
            GetRequest get => get.Region,
            ReadTreeRequest read => read.Region,
            RegionStatusRequest status => status.Region,
            CutRequest cut => cut.Region,
            RegionHistoryRequest history => history.Region,
            _ => throw new InvalidOperationException("Not a driver's request."),
        };
        var current = Log.State.Regions[key.Region].Current;
        if (request.Epoch < current.Number) return request.Fail(Status.Sealed, current.Number);
        if (current.Find(member) is null) return request.Fail(SalusStatus.WrongMember, current.Number);
        var region = _regions[key.Region];
        return request switch
        {
            PutBatchRequest put => await PutAsync(region, current, put),
            GetRequest get => Get(region, member, get),
            ReadTreeRequest read => ReadTree(region, member, read),
            CutRequest cut => Cut(region, cut),
            RegionHistoryRequest history => new RegionHistoryResponse(Status.Ok, history.Epoch)
            {
                Batches = [.. region.History],
            },
            _ => Answer(region, member, (RegionStatusRequest)request),
        };
    }

    private async Task<Response> PutAsync(FakeRegion region, RegionGeneration current, PutBatchRequest put)
    {
        if (!current.IsAdmitted)
        {
            Violated($"region {region.Number} gets a batch before its generation is admitted");
            return put.Fail(SalusStatus.WrongMember, current.Number);
        }

        var batch = SubBatch.Decode(put.Batch.ToArray(), out _);
        if (batch.Header.Run < Math.Max(Fenced, region.Run)) return put.Fail(SalusStatus.RunOver, current.Number);
        if (batch.Header.Run > region.Run) return put.Fail(SalusStatus.Pending, current.Number);
        if (!batch.Header.IsSigned(batch.Signature)) Violated($"batch {batch.Header.Name} is not signed");
        if (OnPut?.Invoke(batch) is { } status)
            return new PutBatchResponse(status, current.Number) { Last = region.Last, Free = Free };
        Register(batch.Header);
        status = region.Accept(batch);
        Decide();
        if (status == Status.Ok && batch.Header.Leader == region.Number)
        {
            for (var i = 0; i < 3 && !(_proof?.Batch.Number >= batch.Header.Number); i++)
            {
                using var enough = new CancellationTokenSource(TimeSpan.FromMilliseconds(700), Time);
                await _progress.Task.WaitOrCancelAsync(enough.Token).ConfigureAwait(
                    ConfigureAwaitOptions.SuppressThrowing | ConfigureAwaitOptions.ContinueOnCapturedContext);
            }
        }

        var isPending = status == Status.Ok && batch.Header.Leader == region.Number
            && !(_proof?.Batch.Number >= batch.Header.Number);
        return new PutBatchResponse(isPending ? SalusStatus.Pending : status, current.Number)
        {
            Last = region.Last,
            Free = Free,
            Commit = _proof,
        };
    }

    private void Register(BatchHeader header)
    {
        if (_headers.TryGetValue(header.Number, out var known) && known.Name != header.Name && known.Run == header.Run)
            Violated($"batch {header.Name} has two contents");
        if (header.PreviousLeader is { } previous && _headers.TryGetValue(header.Number - 1, out var before)
            && before.Run == header.Run && before.Leader != previous)
            Violated($"batch {header.Name} names leader {previous}, not {before.Leader}");
        if (header.IsMarker && header.Participants.Length != _regions.Length)
            Violated($"marker {header.Name} lacks regions");
        _headers[header.Number] = header;
    }

    private Response Get(FakeRegion region, Incarnation member, GetRequest get)
    {
        if (get.Snapshot == 0 && get.Last > region.Committed.Number) return get.Fail(SalusStatus.Behind, get.Epoch);
        var blocks = region.Read(get.First, get.Count, get.Snapshot);
        if (Liars.Contains(member)) blocks = [.. blocks.Select(Wrong)];
        return new GetResponse(Status.Ok, get.Epoch) { Blocks = blocks };
    }

    private static AckResponse Cut(FakeRegion region, CutRequest cut)
    {
        region.Cut();
        return new AckResponse(Status.Ok, cut.Epoch);
    }

    private static ReadOnlyMemory<byte> Wrong(ReadOnlyMemory<byte> block) =>
        block.IsEmpty ? new byte[4096] : (byte[])[.. block.Span[1..], 0x5a];

    private Response ReadTree(FakeRegion region, Incarnation member, ReadTreeRequest read)
    {
        var tree = region.TreeOf(read.Snapshot);
        var pages = read.Pages.Select(page => tree.Find(page) is { } leaves
            ? leaves.LeafHashes.ToArray().ToImmutableArray() : []).ToImmutableArray();
        if (Liars.Contains(member)) pages = [.. pages.Select(static _ => ImmutableArray.Create(Hash128.Of([9])))];
        return new ReadTreeResponse(Status.Ok, read.Epoch)
        {
            Batch = region.Last,
            PageHashes = read.Pages.IsEmpty ? [.. tree.PageHashes] : [],
            Pages = pages,
        };
    }

    private Response Answer(FakeRegion region, Incarnation member, RegionStatusRequest status) =>
        status.Run > region.Run
            ? status.Fail(Log.State.Head.Phase == RunPhase.Decided
                && region.Committed.Number > Log.State.Head.Decision!.Batch.Number
                    ? SalusStatus.Diverged : SalusStatus.Pending, status.Epoch)
            : new RegionStatusResponse(Status.Ok, status.Epoch)
            {
                LastIndex = region.Index,
                Last = region.Last,
                Root = WrongRoots.Contains(member) ? Hash128.Of([8]) : region.Root,
                Commit = _proof,
                Wait = Waiting.Contains(region.Number) ? RegionWait.Members : RegionWait.None,
            };

    private sealed class Network(FakeRegions world, CancellationToken dead) : ITransport
    {
        public async ValueTask<TResponse> CallAsync<TResponse>(
            NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
            where TResponse : Response
        {
            var member = new Incarnation(to.Id.Value);
            using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, dead);
            await world.PauseAsync();
            either.Token.ThrowIfCancellationRequested();
            if (world.Mute.Contains(member) || world.Random.NextDouble() < world.Loss) return await SilenceAsync();
            world.Asked.Add((member, request));
            var answer = (TResponse)await world.HandleAsync(member, request);
            await world.PauseAsync();
            either.Token.ThrowIfCancellationRequested();
            return world.Random.NextDouble() < world.Loss ? await SilenceAsync() : answer;

            async Task<TResponse> SilenceAsync()
            {
                await Task.Delay(TimeSpan.FromSeconds(1), world.Time, either.Token);
                throw new TransportException("silent", outcomeUnknown: true);
            }
        }

        public void Drop(NodeAddress node)
        {
        }

        public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken) =>
            throw new NotSupportedException();
    }
}
