using System.Buffers;

namespace Tango.Tests;

public class ObjectContractTests
{
    [Fact]
    public void A_checkpoint_restores_the_whole_view_state()
    {
        var view = new Accounts();
        Apply(view, 1, "a", 5);
        Apply(view, 2, "b", 7);
        var state = new ArrayBufferWriter<byte>();
        ((ITangoView)view).SaveState(state);

        var restored = new Accounts();
        ((ITangoView)restored).LoadState(state.WrittenMemory);

        var again = new ArrayBufferWriter<byte>();
        ((ITangoView)restored).SaveState(again);
        Assert.Equal(state.WrittenSpan, again.WrittenSpan);
    }

    [Fact]
    public void A_result_reaches_the_context_and_an_unknown_mutator_is_typed()
    {
        var view = new Accounts();
        var result = new ApplyResult<long>();
        Apply(view, 2, "a", 7, result);
        Assert.Equal(7, result.Value);

        var unknown = Assert.Throws<TangoUnknownRecordException>(() => Apply(view, 99, "a", 0));
        Assert.Equal(99, unknown.Mutator);
        Assert.Equal("test-accounts", unknown.TypeName);
    }

    [Fact]
    public void A_rejection_is_the_declared_one()
    {
        var rejected = Assert.Throws<TangoRejectedException>(() => Apply(new Accounts(), 3, "a", 1));
        Assert.Equal("insufficient funds", rejected.Reason);
    }

    [Fact]
    public void A_handle_that_was_not_opened_says_so()
    {
        Assert.Throws<InvalidOperationException>(() => new Accounts().ObjectName);
    }

    [Fact]
    public void Keys_compare_byte_for_byte_and_an_empty_key_is_not_the_whole_object()
    {
        Assert.Equal(new ObjectKey("ab"u8), new ObjectKey("ab"u8));
        Assert.NotEqual(new ObjectKey("ab"u8), new ObjectKey("ac"u8));
        Assert.NotEqual(new ObjectKey([]), ObjectKey.None);
    }

    [Fact]
    public void Type_names_are_stable_words()
    {
        Assert.Equal("dictionary<string,int32?>", TangoTypeName.Generic("dictionary", typeof(string), typeof(int?)));
        Assert.Equal("Tango.Tests.ObjectContractTests", TangoTypeName.Of(typeof(ObjectContractTests)));
    }

    private static void Apply(Accounts view, int mutator, string account, long amount, ApplyResult? result = null)
    {
        var key = new ArgumentBuffer();
        Wire.WriteString(key, account);
        var arguments = new ArgumentBuffer();
        Wire.WriteInt64(arguments, amount);
        ((ITangoView)view).Apply(mutator, key.WrittenMemory, arguments.WrittenMemory, new ApplyContext(result));
    }
}
