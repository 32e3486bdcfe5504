using Corfu.Orleans.Tests.Support;
using Orleans.GrainDirectory;
using Orleans.Runtime;
using Tango.Testing;

namespace Corfu.Orleans.Tests.Contracts;

/// <summary>Orleans' expectations of a grain directory, a clause each. Two silos share the log.</summary>
public sealed class GrainDirectoryTests : IAsyncDisposable
{
    private readonly TangoTestHost _log = new();
    private readonly TestSilo _first;
    private readonly TestSilo _second;

    public GrainDirectoryTests()
    {
        _first = new TestSilo(_log);
        _second = new TestSilo(_log);
    }

    private IGrainDirectory Directory => _first.Directory;

    private IGrainDirectory Other => _second.Directory;

    public ValueTask DisposeAsync() => _log.DisposeAsync();

    [Fact]
    public async Task Registered_grain_is_found_by_every_silo_until_unregistered()
    {
        var address = New("a");

        Assert.Equal(address, await Directory.Register(address));

        var found = await Other.Lookup(address.GrainId);
        Assert.Equal(address, found);
        Assert.Equal(address.MembershipVersion, found!.MembershipVersion);

        await Other.Unregister(address);
        Assert.Null(await Directory.Lookup(address.GrainId));
    }

    [Fact]
    public async Task A_grain_that_was_never_registered_is_not_found()
    {
        Assert.Null(await Directory.Lookup(GrainId.Create("user", "none")));
    }

    [Fact]
    public async Task A_registration_is_not_overwritten_by_another_activation_or_silo()
    {
        var address = New("a");
        await Directory.Register(address);

        Assert.Equal(address, await Other.Register(New("a")));
        Assert.Equal(address, await Other.Register(OnSilo(address, Silos.NewAddress())));
        Assert.Equal(address, await Directory.Lookup(address.GrainId));
    }

    [Fact]
    public async Task Registering_the_same_again_is_acknowledged()
    {
        var address = New("a");
        await Directory.Register(address);

        Assert.Equal(address, await Other.Register(address));
    }

    [Fact]
    public async Task The_activation_that_is_named_as_replaced_is_replaced()
    {
        var (old, next, late) = (New("a"), New("a"), New("a"));
        await Directory.Register(old);

        Assert.Equal(next, await Other.Register(next, old));
        Assert.Equal(next, await Other.Register(late, old));
        Assert.Equal(next, await Directory.Lookup(old.GrainId));
    }

    [Fact]
    public async Task A_replaced_activation_that_is_gone_does_not_hinder()
    {
        var (old, next) = (New("a"), New("a"));

        Assert.Equal(next, await Directory.Register(next, old));
    }

    [Fact]
    public async Task Another_activation_is_not_unregistered()
    {
        var address = New("a");
        await Directory.Register(address);

        await Other.Unregister(New("a"));
        await Other.Unregister(OnSilo(address, Silos.NewAddress()));

        Assert.Equal(address, await Directory.Lookup(address.GrainId));
    }

    [Fact]
    public async Task Activations_of_the_named_silos_alone_are_unregistered()
    {
        var (a, b, c) = (New("a"), New("b"), New("c"));
        foreach (var address in new[] { a, b, c }) await Directory.Register(address);

        await Other.UnregisterSilos([a.SiloAddress!, c.SiloAddress!, Silos.NewAddress()]);
        await Other.UnregisterSilos([]);

        Assert.Null(await Directory.Lookup(a.GrainId));
        Assert.Equal(b, await Directory.Lookup(b.GrainId));
        Assert.Null(await Directory.Lookup(c.GrainId));
    }

    [Fact]
    public async Task Unregistering_silos_tries_again_where_the_outcome_is_in_doubt()
    {
        var address = New("a");
        await Directory.Register(address);
        _first.Connection.LeaveNextInDoubt(isWritten: false);

        await _log.Time.AdvanceUntilAsync(Directory.UnregisterSilos([address.SiloAddress!]));

        Assert.Null(await Other.Lookup(address.GrainId));
    }

    [Fact]
    public async Task Unregistering_silos_is_given_up_without_an_exception_while_the_log_is_gone()
    {
        var address = New("a");
        await Directory.Register(address);
        _first.Connection.Lose();

        await _log.Time.AdvanceUntilAsync(Directory.UnregisterSilos([address.SiloAddress!]));

        _first.Connection.Restore();
        Assert.Equal(address, await Directory.Lookup(address.GrainId));
        await Directory.UnregisterSilos([address.SiloAddress!]);
        Assert.Null(await Other.Lookup(address.GrainId));
    }

    [Fact]
    public async Task Unregistering_silos_without_registrations_appends_no_entry()
    {
        var (gone, replaced) = (New("a"), New("b"));
        foreach (var address in new[] { gone, replaced }) await Directory.Register(address);
        await Directory.Unregister(gone);
        await Directory.Register(New("b"), replaced);
        var tail = await _log.TailAsync();

        await Directory.UnregisterSilos([gone.SiloAddress!, replaced.SiloAddress!, Silos.NewAddress()]);

        Assert.Equal(tail, await _log.TailAsync());
    }

    [Fact]
    public async Task A_directory_that_was_deleted_is_begun_anew()
    {
        var address = New("a");
        await Directory.Register(address);

        await _second.Membership.DeleteAsync("cluster");

        Assert.Null(await Directory.Lookup(address.GrainId));
        Assert.Equal(address, await Directory.Register(address));
        Assert.Equal(address, await Other.Lookup(address.GrainId));
    }

    [Fact]
    public async Task Activations_that_register_at_once_all_get_the_same_one()
    {
        var outcomes = await Task.WhenAll(Enumerable.Range(0, 20).Select(
            i => (i % 2 == 0 ? Directory : Other).Register(New("a"))));

        var registered = Assert.Single(outcomes.Distinct());
        Assert.Equal(registered, await Directory.Lookup(registered!.GrainId));
    }

    [Fact]
    public async Task Registration_in_doubt_is_an_error_and_a_lookup_shows_the_outcome()
    {
        var address = New("a");
        await Directory.Lookup(address.GrainId);
        _first.Connection.LeaveNextInDoubt();

        await Assert.ThrowsAsync<CorfuOutcomeUnknownException>(() => Directory.Register(address));

        Assert.Equal(address, await Other.Lookup(address.GrainId));
        Assert.Equal(address, await Directory.Register(address));
    }

    private static GrainAddress New(string key) => new()
    {
        GrainId = GrainId.Create("user", key),
        ActivationId = ActivationId.NewId(),
        SiloAddress = Silos.NewAddress(),
        MembershipVersion = new MembershipVersion(51),
    };

    private static GrainAddress OnSilo(GrainAddress address, SiloAddress silo) => new()
    {
        GrainId = address.GrainId,
        ActivationId = address.ActivationId,
        SiloAddress = silo,
        MembershipVersion = address.MembershipVersion,
    };
}
