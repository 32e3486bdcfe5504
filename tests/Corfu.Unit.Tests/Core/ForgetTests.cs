using System.Collections.Immutable;
using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

/// <summary>TOCS 2.6: what other units serve by now is given up.</summary>
public class ForgetTests
{
    private static ForgetRequest Request(long from, long until, int modulus, params ImmutableArray<int> residues) =>
        new(new Epoch(2), new LogPosition(from), new LogPosition(until), modulus, residues);

    [Fact]
    public async Task Only_the_named_positions_become_unwritten_and_may_be_copied_here_again()
    {
        var unit = await CoreHarness.OpenAsync(installed: 2, start: 100);
        for (var i = 0; i < 12; i++) unit.Complete(Entries.Data(i), 2);
        unit.Trim(4, 2, Entries.Data(4));
        Assert.Equal(Status.Ok, unit.Ask(Request(2, 10, 3, 1, 2)).Status);
        for (var i = 0; i < 12; i++) Assert.Equal(i is >= 2 and < 10 && i % 3 > 0 ? PageState.Unwritten : PageState.Data, unit.Page(i, epoch: 2).State);
        Assert.Equal(Status.Ok, unit.Complete(Entries.Data(5), 2).Status);
        Assert.Equal(PageState.Data, unit.Page(5, epoch: 2).State);
        Assert.Equal(new LogPosition(12), unit.Seal(3).End);
    }

    [Fact]
    public async Task R4_unwritten_is_said_when_it_is_durable()
    {
        var unit = await CoreHarness.OpenAsync(installed: 2, start: 100);
        var page = unit.LsnOf(new CompleteRequest(new Epoch(2), Entries.Data(3)));
        var forget = unit.LsnOf(Request(0, 10, 2, 1));
        Assert.True(forget > page);
        Assert.Equal(forget, unit.LsnOf(new ReadRequest(new Epoch(2), Entries.Positions(3), ReadDetail.State)));
        Assert.Equal(forget, unit.LsnOf(Request(0, 10, 2, 1)));
    }

    [Fact]
    public async Task Nothing_at_or_above_the_epochs_start_and_nothing_of_another_epoch()
    {
        var unit = await CoreHarness.OpenAsync(installed: 2, start: 10);
        unit.Complete(Entries.Data(9), 2);
        Assert.Equal(Status.BadRequest, unit.Ask(Request(5, 11, 1, 0)).Status);
        Assert.Equal(Status.Sealed, unit.Ask(Request(5, 10, 1, 0) with { Epoch = new Epoch(1) }).Status);
        Assert.Equal(Status.NotInstalled, unit.Ask(Request(5, 10, 1, 0) with { Epoch = new Epoch(3) }).Status);
        Assert.Equal(PageState.Data, unit.Page(9, epoch: 2).State);
    }
}
