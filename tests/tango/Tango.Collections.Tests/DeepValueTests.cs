using System.Collections.Immutable;
using Tango.Formatting;

namespace Tango.Collections.Tests;

/// <summary>A record that can be written and not be read would stop its object in every replica.</summary>
public sealed class DeepValueTests
{
    [Theory]
    [InlineData(10, true)]
    [InlineData(23, true)]
    [InlineData(24, false)]
    [InlineData(2_000, false)]
    public async Task Value_nested_too_deep_for_readers_is_refused_before_the_append(int levels, bool isTaken)
    {
        await using var cluster = new Cluster();
        var register = await cluster.OpenAsync<TangoRegister<Branch>>();
        var value = new Branch([]);
        for (int i = 1; i < levels; i++) value = new Branch([value]);
        if (isTaken)
        {
            await register.WriteAsync(value);
        }
        else
        {
            var error = await Assert.ThrowsAsync<TangoFormatException>(async () => await register.WriteAsync(value));
            Assert.Equal(FormatError.TooDeep, error.Error);
        }

        Assert.Equal(isTaken, await register.ReadAsync() is not null);
    }

    [Fact]
    public void A_value_of_the_greatest_depth_comes_back_from_a_checkpoint()
    {
        var view = new View<TangoDictionary<int, Branch>>();
        var value = new Branch([]);
        for (int i = 1; i < 23; i++) value = new Branch([value]);
        view.Apply(1, Bytes.Key(1), Bytes.Arguments(value));
        view.Reload();
        Assert.Equal(1, view.Read<int>("ReadCount"));
    }
}

[MessagePackObject]
public sealed record Branch([property: Key(0)] ImmutableArray<Branch> Children);
