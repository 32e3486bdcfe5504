using BankSample.Machine;
using Corfu.StateMachines;

namespace BankSample.Tests;

/// <summary>The machine alone.</summary>
public sealed class AccountsTests
{
    private readonly Accounts _accounts = new();

    [Fact]
    public void Transfer_moves_money_and_tells_the_balance_left()
    {
        Assert.Equal(new Receipt(true, 700), Apply(new Transfer("a", 1, 2, 300)));
        Assert.Equal((700, 1_300, 10_000), (_accounts.BalanceOf(1), _accounts.BalanceOf(2), _accounts.Total(10)));
    }

    [Theory]
    [InlineData(1_001)]
    [InlineData(0)]
    [InlineData(-5)]
    public void Refused_transfer_leaves_the_balances(long amount)
    {
        Assert.Equal(new Receipt(false, 1_000), Apply(new Transfer("a", 1, 2, amount)));
        Assert.Equal((1_000, 1_000, 1), (_accounts.BalanceOf(1), _accounts.BalanceOf(2), _accounts.Ran));
    }

    [Fact]
    public void Transfer_to_the_same_account_leaves_the_balance()
    {
        Assert.Equal(new Receipt(true, 1_000), Apply(new Transfer("a", 1, 1, 300)));
        Assert.Equal(10_000, _accounts.Total(10));
    }

    [Fact]
    public void Repeated_name_is_counted()
    {
        Apply(new Transfer("a", 1, 2, 1));
        Apply(new Transfer("a", 1, 2, 1));
        Assert.Equal((2, 1), (_accounts.Ran, _accounts.Twice));
    }

    [Fact]
    public async Task Later_commands_leave_a_snapshot_alone()
    {
        Apply(new Transfer("a", 1, 2, 300));
        using IMachineSnapshot snapshot = _accounts.Capture();
        Apply(new Transfer("b", 2, 1, 100));
        using var bytes = new MemoryStream();
        await snapshot.SaveAsync(bytes);
        bytes.Position = 0;
        var restored = new Accounts();
        await restored.RestoreAsync(bytes);
        Assert.Equal((700, 1_300, 1, 0),
            (restored.BalanceOf(1), restored.BalanceOf(2), restored.Ran, restored.Twice));
        Apply(restored, new Transfer("a", 1, 2, 1));
        Assert.Equal(1, restored.Twice);
    }

    private Receipt Apply(Transfer transfer) => Apply(_accounts, transfer);

    private static Receipt Apply(Accounts accounts, Transfer transfer)
    {
        ReadOnlyMemory<byte> result = ((IStateMachine)accounts).Apply(
            Accounts.Encode(transfer, Accounts.Options), default);
        return MessagePack.MessagePackSerializer.Deserialize<Receipt>(result, Accounts.Options);
    }
}
