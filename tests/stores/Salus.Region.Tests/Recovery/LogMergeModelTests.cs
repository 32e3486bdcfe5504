using Salus.Region.Recovery;
using static Salus.Region.Tests.Recovery.TestHistory;

namespace Salus.Region.Tests.Recovery;

/// <summary>The merged log of random histories with lying stores, against a search of all sequences that the stores'
/// records make, and against the log as it was.</summary>
public sealed class LogMergeModelTests
{
    private const int Seeds = 3000;

    [Fact]
    public void Merged_log_is_the_longest_that_a_search_finds_and_a_prefix_of_the_true_one()
    {
        var (whole, cut, dead, gaps) = (0, 0, 0, 0);
        for (var seed = 0; seed < Seeds; seed++)
        {
            var run = new RandomRun(seed);
            var merged = LogMerge.Of(Key, run.Base, LogLine.Of(run.State), run.Listings);
            var expected = new Search(run).LongestFrom(run.Base.Index, run.Base.Chain);
            Assert.True(expected == merged.LastIndex, $"seed {seed}: {merged.LastIndex}, the search has {expected}");
            run.CheckAgainstTruth(merged);
            Assert.True(!run.HasCorrectStore || merged.LastIndex >= run.History.Acknowledged,
                $"seed {seed}: acknowledged records are gone");
            if (merged.LastIndex == run.History.Log.Count) whole++;
            else cut++;
            if (run.History.Dead.Count > 0) dead++;
            if (merged.IsShort) gaps++;
        }

        // The histories have all that the merge is for.
        Assert.True(Math.Min(Math.Min(whole, cut), Math.Min(dead, gaps)) > Seeds / 20,
            $"whole {whole}, cut {cut}, with dead records {dead}, short {gaps}");
    }

    private sealed class RandomRun
    {
        private readonly Random _random;
        private readonly int _seed;

        // The newest generation was not admitted: its predecessor has ended, and takes no records.
        private bool _isOver;

        public RandomRun(int seed)
        {
            _seed = seed;
            _random = new Random(seed);
            History.Create(1, 2, 3);
            for (var steps = _random.Next(5); steps > 0; steps--) Step();
            if (!_isOver) Write();
            State = History.Recovering(1, 2, 3);
            var at = _random.Next(3) == 0 ? _random.Next((int)History.Acknowledged + 1) : 0;
            Base = new LogBase(at, at == 0 ? default : History.Log[at - 1].Head.Chain);
            Listings = [.. Read()];
        }

        public TestHistory History { get; } = new();

        public RegionState State { get; }

        public LogBase Base { get; }

        public ImmutableArray<StoreListing> Listings { get; }

        public bool HasCorrectStore { get; private set; }

        public void CheckAgainstTruth(MergedLog merged)
        {
            foreach (var record in merged.Records)
            {
                Assert.True(History.Log[(int)record.Head.Index - 1].Head == record.Head,
                    $"seed {_seed}: record {record.Head.Index} is not the region's");
                foreach (var store in record.Stores)
                    Assert.Contains(Listings.Single(listing => listing.Store == store).Records,
                        listed => listed.Head == record.Head);
            }

            Assert.Equal(merged.LastIndex == 0 ? default : History.Log[(int)merged.LastIndex - 1].Head.Chain,
                merged.Chain);
            for (var i = 1; i < merged.Records.Length; i++)
                Assert.Equal(merged.Records[i - 1].Head.Index + 1, merged.Records[i].Head.Index);
        }

        private void Step()
        {
            if (!_isOver) Write();
            int[] stores = [.. Enumerable.Range(1, 5).OrderBy(_ => _random.Next()).Take(3)];
            // A generation that was read from damaged stores is never admitted.
            var isAdmitted = _random.Next(2) == 0;
            History.Replace(_random.NextInt64(isAdmitted ? History.Acknowledged : 0, History.Log.Count + 1),
                isAdmitted, stores);
            _isOver = !isAdmitted;
        }

        private void Write()
        {
            for (var records = _random.Next(6); records > 0; records--) History.Append(3);
            // In flight when the generation ends.
            for (var copies = 2; copies > 0; copies--)
            {
                if (_random.Next(3) == 0) History.Append(copies);
            }
        }

        private IEnumerable<StoreListing> Read()
        {
            var anchors = History.Anchor.Members.Select(static member => member.Store).ToHashSet();
            foreach (var (store, records) in History.Stores.OrderBy(_ => _random.Next()).ToList())
            {
                switch (_random.Next(4))
                {
                    case 0:
                        break;
                    case 1:
                        HasCorrectStore |= anchors.Contains(store);
                        yield return ListingOf(store, records);
                        break;
                    default:
                        yield return ListingOf(store, Lie(records));
                        break;
                }
            }
        }

        private IEnumerable<RegionRecord> Lie(List<RegionRecord> records) => _random.Next(6) switch
        {
            // A cut log, all of whose certificates are valid.
            0 => records.Where(Below(_random.Next(records.Count + 1))),
            // An old disk.
            1 => records.Take(_random.Next(records.Count + 1)).ToList(),
            // Lost sectors.
            2 => records.Where(_ => _random.Next(4) != 0).ToList(),
            3 => records.Select(record => _random.Next(3) == 0 ? DamageCertificate(record) : record).ToList(),
            4 => records.Select(record => _random.Next(5) == 0 ? DamageHead(record) : record).ToList(),
            // A certificate for another content, and records of dead generations.
            _ => records.Concat(History.Dead).Select(record => _random.Next(4) == 0 ? Forge(record) : record).ToList(),
        };

        private static Func<RegionRecord, bool> Below(int index) => record => record.Head.Index <= index;

        private static StoreListing ListingOf(StoreId store, IEnumerable<RegionRecord> records) => new(store,
            [.. records.OrderBy(static record => record.Head.Index).ThenBy(static record => record.Head.Generation)
                .Select(List)]);

        private RegionRecord DamageCertificate(RegionRecord record) => record with
        {
            Certificate = record.Certificate with
            {
                Signatures = record.Certificate.Signatures.SetItem(
                    _random.Next(3), new WeakSignature(new Hash128((UInt128)_random.NextInt64()))),
            },
        };

        private RegionRecord DamageHead(RegionRecord record) => record with
        {
            Head = _random.Next(4) switch
            {
                0 => record.Head with { Digest = new Hash128((UInt128)_random.NextInt64()) },
                1 => record.Head with { Previous = new Hash128((UInt128)_random.NextInt64()) },
                2 => record.Head with { Generation = record.Head.Generation.Next },
                _ => record.Head with { Index = record.Head.Index + 1 },
            },
        };

        // A signer of three has lied, or the certificate is another record's.
        private RegionRecord Forge(RegionRecord record)
        {
            var head = record.Head with { Digest = new Hash128((UInt128)_random.NextInt64()) };
            var generation = State.Past.FirstOrDefault(past => past.Number == head.Generation);
            if (generation is null || _random.Next(2) == 0) return record with { Head = head };
            var signed = Certify(generation, head.Logged).Signatures.SetItem(
                _random.Next(3), record.Certificate.Signatures[0]);
            return record with { Head = head, Certificate = new Certificate(head.Generation, signed) };
        }
    }

    // Tries every sequence, and asks of each record alone whether an admitted generation that is not over there has
    // signed it.
    private sealed class Search(RandomRun run)
    {
        private readonly ILookup<(long, Hash128), ListedRecord> _records = run.Listings
            .SelectMany(static listing => listing.Records)
            .ToLookup(static record => (record.Head.Index, record.Head.Previous));

        private readonly Dictionary<(long, Hash128), long> _known = [];

        public long LongestFrom(long index, Hash128 chain)
        {
            if (_known.TryGetValue((index, chain), out var known)) return known;
            var longest = index == run.Base.Index ? index : -1;
            foreach (var record in _records[(index + 1, chain)])
            {
                if (IsOtherOpening(record.Head)) continue;
                if (IsProven(record)) longest = Math.Max(longest, record.Head.Index);
                longest = Math.Max(longest, LongestFrom(record.Head.Index, record.Head.Chain));
            }

            return _known[(index, chain)] = longest;
        }

        private bool IsProven(ListedRecord record)
        {
            var admitted = run.State.Past.Where(static past => past.IsAdmitted).ToList();
            var signer = admitted.Find(past => past.Number == record.Head.Generation);
            if (signer is null || signer.Opening!.Index > record.Head.Index) return false;
            if (admitted.Exists(later => later.Number > signer.Number && later.Opening!.Index <= record.Head.Index))
                return false;
            return signer.Opening.Index == record.Head.Index
                || record.Certificate.Proves(record.Head.Logged, signer.Set);
        }

        // Openings that a later generation's stands at or below are over.
        private bool IsOtherOpening(RecordHead head)
        {
            var admitted = run.State.Past.Where(static past => past.IsAdmitted).ToList();
            return admitted.Exists(past => past.Opening!.Index == head.Index && past.Opening.Chain != head.Chain
                && !admitted.Exists(later => later.Number > past.Number && later.Opening!.Index <= head.Index));
        }
    }
}
