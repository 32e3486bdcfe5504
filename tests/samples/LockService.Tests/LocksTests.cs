using Corfu.StateMachines;
using LockServiceSample.Machine;
using LockServiceSample.Run;

namespace LockServiceSample.Tests;

/// <summary>The machine alone, and what a lock guards.</summary>
public sealed class LocksTests
{
    private readonly Locks _locks = new();

    [Fact]
    public void Lock_goes_to_one_owner_with_growing_tokens()
    {
        Assert.Equal(new LockReply(true, 1), Acquire("a"));
        Assert.Equal(new LockReply(false, 1), Acquire("b"));
        Assert.Equal(new LockReply(true, 1), Acquire("a"));
        Assert.Equal(new LockReply(true, 0), Apply(LockVerb.Release, 1));
        Assert.Equal(new LockReply(true, 2), Acquire("b"));
    }

    [Theory]
    [InlineData(LockVerb.Renew)]
    [InlineData(LockVerb.Release)]
    [InlineData(LockVerb.Expire)]
    public void Token_of_an_earlier_holder_leaves_the_lock_alone(LockVerb verb)
    {
        Acquire("a");
        Apply(LockVerb.Release, 1);
        Assert.Equal(new LockReply(false, 0), Apply(verb, 1));
        Acquire("b");
        Assert.Equal(new LockReply(false, 2), Apply(verb, 1));
        Assert.Equal(new Held("door", "b", 2, 0), _locks.Find("door"));
    }

    [Fact]
    public void Expiry_behind_a_renewal_leaves_the_lock_held()
    {
        Acquire("a");
        Apply(LockVerb.Renew, 1);
        Assert.Equal(new LockReply(false, 1), Apply(LockVerb.Expire, 1, renewals: 0));
        Assert.Equal(new LockReply(true, 0), Apply(LockVerb.Expire, 1, renewals: 1));
        Assert.Null(_locks.Find("door"));
    }

    [Fact]
    public async Task Restored_machine_gives_no_token_again()
    {
        Acquire("a");
        Apply(LockVerb.Release, 1);
        Acquire("b");
        using IMachineSnapshot snapshot = _locks.Capture();
        Apply(LockVerb.Release, 2);
        using var bytes = new MemoryStream();
        await snapshot.SaveAsync(bytes);
        bytes.Position = 0;
        var restored = new Locks();
        await restored.RestoreAsync(bytes);
        Assert.Equal(new Held("door", "b", 2, 0), restored.Find("door"));
        Apply(restored, new LockOrder(LockVerb.Release, "door", Token: 2));
        Assert.Equal(new LockReply(true, 3), Apply(restored, new LockOrder(LockVerb.Acquire, "door", "c")));
    }

    [Fact]
    public void Vault_refuses_a_token_below_the_highest()
    {
        var vault = new Vault();
        Assert.True(vault.Write(2));
        Assert.False(vault.Write(1));
        Assert.True(vault.Write(2));
        Assert.Equal([2, 2], vault.Taken);
        Assert.Equal(1, vault.Refused);
    }

    private LockReply Acquire(string owner) => Apply(_locks, new LockOrder(LockVerb.Acquire, "door", owner));

    private LockReply Apply(LockVerb verb, long token, long renewals = 0) =>
        Apply(_locks, new LockOrder(verb, "door", Token: token, Renewals: renewals));

    private static LockReply Apply(Locks locks, LockOrder order)
    {
        ReadOnlyMemory<byte> result = ((IStateMachine)locks).Apply(Locks.Encode(order, Locks.Options), default);
        return MessagePack.MessagePackSerializer.Deserialize<LockReply>(result, Locks.Options);
    }
}
