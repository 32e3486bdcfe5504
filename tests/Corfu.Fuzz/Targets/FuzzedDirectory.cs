using Tango;
using Tango.Formatting;
using Tango.Records;
using Tango.Testing;

namespace Corfu.Fuzz;

/// <summary>The directory's mutators: a byte with the number, then the arguments.</summary>
internal sealed class FuzzedDirectory
{
    private const int CallsPerView = 100;
    private const int FirstPosition = 1000;

    private readonly List<byte[]> _calls = [.. CallsAsync().GetAwaiter().GetResult()];
    private TangoDirectory _view = null!;
    private byte[] _state = [];
    private bool _isNew;
    private int _left;
    private long _position;

    public IReadOnlyList<byte[]> Samples => _calls;

    /// <summary>With all the samples applied.</summary>
    public TangoDirectory NewView()
    {
        var view = new TangoDirectory();
        for (var i = 0; i < _calls.Count; i++)
        {
            try
            {
                Apply(view, _calls[i], i);
            }
            catch (TangoRejectedException)
            {
                // As in the log.
            }
        }

        return view;
    }

    /// <summary>
    /// An applied call leaves a state that a checkpoint keeps, and claims that still hold; a rejected call changes
    /// nothing. Any other exception stops the directory: the next call finds a new one.
    /// </summary>
    public void Feed(byte[] bytes)
    {
        if (bytes.Length == 0) throw new TangoFormatException("No mutator");
        if (_left-- <= 0) Restart();
        var left = _left;
        _left = 0;
        try
        {
            Apply(_view, bytes, _position++);
        }
        catch (TangoRejectedException)
        {
            if (!FuzzedViews.Save(_view).AsSpan().SequenceEqual(_state))
                throw new InvalidOperationException("A rejected call has changed the directory");
            _left = left;
            throw;
        }

        _state = FuzzedViews.Save(_view);
        var loaded = (TangoDirectory)FuzzedViews.Load(TangoDirectory.Type, _state);
        if (!FuzzedViews.Save(loaded).AsSpan().SequenceEqual(_state) || loaded.Level != _view.Level
            || loaded.MaxSpan != _view.MaxSpan || loaded.VersionAge != _view.VersionAge)
            throw new InvalidOperationException("A checkpoint of the directory loads to another one");
        RequireInvariants(_view);
        _left = left;
    }

    private void Restart()
    {
        // A call that creates the first object has no effect later.
        _isNew = !_isNew;
        _view = _isNew ? new TangoDirectory() : NewView();
        _state = FuzzedViews.Save(_view);
        _position = FirstPosition;
        _left = CallsPerView;
    }

    // As TrimClaims has them.
    private static void RequireInvariants(TangoDirectory view)
    {
        var claims = view.Claims;
        var holds = claims.Released <= claims.Lowest
            && claims.Cohorts.Values.All(unit => unit.Checkpoint is not { } end || unit.Forget <= end)
            && view.Level is >= FeatureLevel.First and <= FeatureLevel.Newest && view.MaxSpan > 0
            && view.VersionAge > 0 && claims.ByForget.Count == claims.Cohorts.Count;
        if (!holds) throw new InvalidOperationException("The directory has accepted what breaks its invariants");
    }

    private static void Apply(TangoDirectory view, byte[] call, long position) =>
        ((ITangoView)view).Apply(call[0], default, call.AsMemory(1),
            new ApplyContext(null, new LogPlace(new LogPosition(position), 0, 0)));

    /// <summary>A call of each mutator, as a runtime writes them.</summary>
    private static async Task<List<byte[]>> CallsAsync()
    {
        var log = new InMemoryCorfuLog(new InMemoryLogOptions { Yield = false });
        await using var runtime = new TangoRuntime(
            log, log.OpenCursor, TimeProvider.System, SystemEntropy.Instance,
            new TangoOptions { Checkpoints = null, NewLogMaxSpan = 4 });
        await runtime.OpenAsync<Tango.Collections.TangoRegister<string>>("old", OpenMode.Create);
        var one = await runtime.OpenAsync<Tango.Collections.TangoRegister<string>>("one", OpenMode.Create);
        await runtime.OpenGroupAsync("pair", group =>
        {
            group.Add<Tango.Collections.TangoRegister<string>>("left");
            group.Add<Tango.Collections.TangoCounter>("right");
        });
        await runtime.OpenGroupAsync("pair", static group => group.Add<Tango.Collections.TangoCounter>("added"));
        for (var i = 0; i < 3; i++)
        {
            await one.WriteAsync($"{i}");
            await runtime.Checkpoints.WriteAsync(one);
        }

        await runtime.History.ForkAsync("one", (await log.CheckAsync([])).Tail, "copy");
        await runtime.Log.RetainAsync(5, TimeSpan.FromHours(1));
        await runtime.Log.DeclareStreamAsync(StreamId.FromName("orders"), "orders", new LogPosition(2));
        await runtime.Log.DeclareStreamAsync(RuntimeLog.NoStream, null, null);
        var version = await runtime.Log.HoldAsync("reader", new LogPosition(3), TimeSpan.FromSeconds(9));
        await runtime.Log.HoldAsync("other", new LogPosition(1L << 40), TimeSpan.FromSeconds(9));
        await runtime.Log.LetGoAsync("reader", version);
        await runtime.Services.Handle.ReleaseAsync(new LogPosition(1), CancellationToken.None);
        await runtime.Directory.DeleteAsync("old");
        await runtime.Directory.DeleteAsync("added");
        return [.. await CallsOfAsync(log), CheckpointedIndex(), RaiseLevel()];
    }

    // The checkpoint call for a unit whose state has values in the log.
    private static byte[] CheckpointedIndex() =>
    [
        TangoDirectory.Mutators.Checkpointed,
        .. ClaimFormat.Checkpointed(
            new ObjectId(257), new LogPosition(900), new LogPosition(40), new LogPosition(30)).WrittenSpan,
    ];

    private static byte[] RaiseLevel() =>
        [TangoDirectory.Mutators.RaiseLevel, .. DirectoryFormat.RaiseLevel(FeatureLevel.Newest).WrittenSpan];

    private static async Task<List<byte[]>> CallsOfAsync(InMemoryCorfuLog log)
    {
        var tail = (await log.CheckAsync([])).Tail;
        ImmutableArray<LogPosition> all = [.. Enumerable.Range(0, (int)tail.Offset).Select(i => new LogPosition(i))];
        var calls = new List<byte[]>();
        foreach (var page in await log.ReadManyAsync(all))
        {
            if (page.Entry!.Streams.Any(static header => header.Stream == ObjectId.Directory.Stream))
                AddCalls(page.Entry.Payload, calls);
        }

        return calls;
    }

    private static void AddCalls(ReadOnlyMemory<byte> payload, List<byte[]> calls)
    {
        var reader = new MessagePackReader(payload);
        for (var left = EntryFormat.ReadHeader(ref reader).Records; left > 0; left--)
        {
            reader.ReadArrayHeader(RecordFormat.UpdateLength);
            reader.ReadInt32();
            var call = CallRecord.Read(ref reader);
            calls.Add([(byte)call.Mutator, .. call.Arguments.Span]);
        }
    }
}
