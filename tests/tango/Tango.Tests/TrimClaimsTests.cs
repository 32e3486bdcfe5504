using System.Collections.Immutable;
using Corfu;

namespace Tango.Tests;

/// <summary>The trim point is a record of the directory: nothing that is claimed is ever released.</summary>
public class TrimClaimsTests
{
    private const long Span = 10;
    private static readonly ObjectId s_a = new(256);
    private static readonly ObjectId s_b = new(257);
    private static readonly TimeSpan s_lease = TimeSpan.FromSeconds(30);

    [Fact]
    public void A_release_ends_at_the_lowest_claim_and_never_falls()
    {
        var claims = TrimClaims.None.Create(s_a, At(5)).Create(s_b, At(9));
        Assert.Equal(At(5), claims.Lowest);
        Assert.Equal(At(3), (claims = claims.Release(At(3), At(20))).Released);
        Assert.Equal(At(5), (claims = claims.Release(At(100), At(21))).Released);
        Assert.Equal(At(5), claims.Release(At(4), At(22)).Released);
    }

    [Fact]
    public void Release_stops_below_the_position_of_the_releasing_record()
    {
        var claims = TrimClaims.None.Release(At(100), At(7));
        Assert.Equal(At(7), claims.Released);
        // A cohort that is created later has its whole history.
        Assert.True(claims.Create(s_a, At(8)).Lowest > claims.Released);
    }

    [Fact]
    public void Cohort_keeps_the_last_checkpoint_but_one_and_the_span_below()
    {
        var claims = TrimClaims.None.Create(s_a, At(5));
        claims = claims.Checkpointed(s_a, At(50), At(50), Span, At(60));
        Assert.Equal(new CohortClaim(At(5), At(50)), claims.Cohorts[s_a]);
        claims = claims.Checkpointed(s_a, At(70), At(70), Span, At(80));
        Assert.Equal(new CohortClaim(At(40), At(70)), claims.Cohorts[s_a]);
        // Less than what it could forget: it hosts a commit record that is not decided.
        claims = claims.Checkpointed(s_a, At(90), At(45), Span, At(100));
        Assert.Equal(new CohortClaim(At(45), At(90)), claims.Cohorts[s_a]);
        // A claim never falls.
        claims = claims.Checkpointed(s_a, At(95), At(41), Span, At(101));
        Assert.Equal(new CohortClaim(At(45), At(95)), claims.Cohorts[s_a]);
    }

    [Fact]
    public void First_checkpoint_below_the_span_forgets_no_history()
    {
        var claims = TrimClaims.None.Create(s_a, At(0)).Checkpointed(s_a, At(8), At(8), Span, At(9));
        claims = claims.Checkpointed(s_a, At(12), At(12), Span, At(13));
        Assert.Equal(new CohortClaim(At(0), At(12)), claims.Cohorts[s_a]);
    }

    [Fact]
    public void Of_two_hosts_checkpoints_the_newer_one_counts()
    {
        var claims = TrimClaims.None.Create(s_a, At(5)).Checkpointed(s_a, At(50), At(50), Span, At(60));
        Assert.Same(claims, claims.Checkpointed(s_a, At(50), At(50), Span, At(61)));
        Assert.Same(claims, claims.Checkpointed(s_a, At(40), At(40), Span, At(62)));
    }

    [Fact]
    public void Impossible_checkpoints_are_rejected()
    {
        var claims = TrimClaims.None.Create(s_a, At(5));
        Assert.Throws<TangoRejectedException>(() => claims.Checkpointed(s_b, At(6), At(6), Span, At(7)));
        Assert.Throws<TangoRejectedException>(() => claims.Checkpointed(s_a, At(8), At(8), Span, At(7)));
        Assert.Throws<TangoRejectedException>(() => claims.Checkpointed(s_a, At(6), At(7), Span, At(7)));
    }

    [Fact]
    public void Claims_below_the_released_position_are_rejected()
    {
        var claims = TrimClaims.None.Create(s_a, At(30)).Release(At(20), At(40));
        Assert.Throws<TangoRejectedException>(() => claims.Hold("reader", At(19), s_lease));
        Assert.Throws<TangoRejectedException>(() => claims.Declare(Raw(1), new StreamClaim(null, At(19))));
        Assert.Throws<TangoRejectedException>(() => claims.Checkpointed(s_a, At(35), At(19), Span, At(41)));
        Assert.Equal(At(20), claims.Hold("reader", At(20), s_lease).Claims.Lowest);
    }

    [Fact]
    public void A_readers_claim_ends_with_the_version_that_was_not_renewed()
    {
        var (claims, first) = TrimClaims.None.Create(s_a, At(30)).Hold("reader", At(10), s_lease);
        Assert.Equal(At(10), claims.Lowest);
        (claims, var second) = claims.Hold("reader", At(12), s_lease);
        Assert.Same(claims, claims.Expire("reader", first));
        Assert.Same(claims, claims.Expire("other", second));
        claims = claims.Expire("reader", second);
        Assert.Equal(At(30), claims.Lowest);
        // A version is not given twice, so that a late expiry hits no one else.
        Assert.True(claims.Hold("reader", At(12), s_lease).Version > second);
    }

    [Fact]
    public void Declared_stream_claims_the_retained_positions()
    {
        var claims = TrimClaims.None.Create(s_a, At(30)).Declare(Raw(1), new StreamClaim("orders", At(10)));
        Assert.Equal(At(10), claims.Lowest);
        claims = claims.Declare(Raw(1), new StreamClaim("orders", null));
        Assert.Equal(At(30), claims.Lowest);
        claims.Declare(TrimClaims.NoStream, new StreamClaim(null, null));
        Assert.Throws<TangoRejectedException>(() => claims.Declare(s_a.Stream, new StreamClaim(null, null)));
    }

    /// <summary>R20: a commit record that read the deleted cohort may be undecided where others still have to play it.
    /// </summary>
    [Fact]
    public void Deleted_cohort_is_needed_until_all_other_cohorts_are_past_the_deletion()
    {
        var claims = TrimClaims.None.Create(s_a, At(5)).Create(s_b, At(9));
        claims = claims.Delete([Entry(s_a)], At(60));
        Assert.Equal(At(5), claims.Lowest);
        claims = claims.Checkpointed(s_b, At(65), At(65), Span, At(70));
        claims = claims.Checkpointed(s_b, At(80), At(80), Span, At(81)).Release(At(100), At(82));
        Assert.Equal((At(55), At(5)), (claims.Cohorts[s_b].Forget, claims.Released));
        claims = claims.Checkpointed(s_b, At(90), At(90), Span, At(91)).Release(At(100), At(92));
        Assert.Equal(At(70), claims.Released);
        Assert.Empty(claims.Deleted);
    }

    /// <summary>R20: what reads one of them may write the other.</summary>
    [Fact]
    public void Deleted_cohorts_hold_each_other()
    {
        var claims = TrimClaims.None.Create(s_a, At(50)).Create(s_b, At(80)).Create(new ObjectId(258), At(150));
        claims = claims.Delete([Entry(s_a)], At(100)).Delete([Entry(s_b)], At(200));
        Assert.Equal(At(50), claims.Lowest);
        Assert.Equal(2, claims.DeletedHolders.Length);
    }

    [Fact]
    public void Tables_have_limits()
    {
        var claims = TrimClaims.None;
        for (var i = 0; i < TrimClaims.MaxHolds; i++) claims = claims.Hold($"r{i}", At(1), s_lease).Claims;
        Assert.Throws<TangoRejectedException>(() => claims.Hold("more", At(1), s_lease));
        claims.Hold("r0", At(2), s_lease);
    }

    /// <summary>Any records in any order: what is released rises, and stays at or below every claim.</summary>
    [Fact]
    public void Released_position_stays_below_every_claim_for_any_sequence_of_records()
    {
        for (var seed = 0; seed < 400; seed++)
        {
            var random = new Random(seed);
            var claims = TrimClaims.None;
            for (var at = 1L; at < 300; at++)
            {
                var before = claims;
                try
                {
                    claims = AnyRecord(claims, random, at);
                }
                catch (TangoRejectedException)
                {
                    Assert.Same(before, claims);
                    continue;
                }

                Assert.True(claims.Released >= before.Released, $"seed {seed} at {at}: it fell");
                Assert.Equal(
                    claims.Cohorts.Select(static cohort => (cohort.Value.Forget, cohort.Key)).Order().ToArray(),
                    claims.ByForget.ToArray());
                Assert.All(claims.Cohorts.Values, cohort => Assert.True(cohort.Forget >= claims.Released));
                Assert.All(claims.Cohorts.Values, cohort => Assert.True(!(cohort.Checkpoint < cohort.Forget)));
                Assert.All(claims.Holds.Values, hold => Assert.True(hold.Position >= claims.Released));
                Assert.All(claims.Streams.Values, s => Assert.True(!(s.RetainFrom < claims.Released)));
                Assert.All(claims.Deleted.Values, d => Assert.True(d.At >= claims.Released));
                foreach (var (id, cohort) in before.Cohorts)
                {
                    if (!claims.Cohorts.TryGetValue(id, out var after)) continue;
                    Assert.True(after.Forget >= cohort.Forget && !(after.Checkpoint < cohort.Checkpoint));
                }
            }
        }
    }

    private static TrimClaims AnyRecord(TrimClaims claims, Random random, long at)
    {
        var cohort = claims.Cohorts.IsEmpty
            ? default
            : claims.Cohorts.Keys.ElementAt(random.Next(claims.Cohorts.Count));
        LogPosition Any() => At(random.NextInt64(at + 2));
        var name = $"r{random.Next(3)}";
        return random.Next(12) switch
        {
            0 => claims.Create(new ObjectId(256 + (ulong)at), At(at)),
            1 or 2 or 3 or 4 when cohort != default =>
                claims.Checkpointed(cohort, At(Math.Max(0, at - random.Next(5))), Any(), random.Next(20), At(at)),
            5 => claims.Hold(name, Any(), s_lease).Claims,
            6 => claims.Expire(name, claims.Holds.TryGetValue(name, out var hold) ? hold.Version : 0),
            7 => claims.Declare(Raw(random.Next(2)), new StreamClaim(null, random.Next(2) == 0 ? null : Any())),
            8 when cohort != default && random.Next(3) == 0 => claims.Delete([Entry(cohort)], At(at)),
            _ => claims.Release(random.Next(2) == 0 ? Any() : At(at + 10), At(at)),
        };
    }

    private static LogPosition At(long offset) => new(offset);

    private static StreamId Raw(int number) => new(StreamId.FirstRawValue + (ulong)number);

    private static DirectoryEntry Entry(ObjectId id) => new(id, $"object {id}", "type", null, 16);
}
