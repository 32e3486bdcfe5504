using System.Collections.Immutable;

namespace Tango.Collections.Tests;

/// <summary>Random operations against a plain collection; now and then the view is replaced by one loaded from its
/// checkpoint.</summary>
public sealed class ApplySemanticsTests
{
    private const int Steps = 4000;

    [Fact]
    public void Dictionary()
    {
        var view = new View<TangoDictionary<string, long>>();
        var model = new Dictionary<string, long>();
        var random = new Random(1);
        for (int step = 0; step < Steps; step++)
        {
            string key = $"key {random.Next(30)}";
            byte[] bytes = Bytes.Key(key);
            long value = random.Next(4);
            bool known = model.TryGetValue(key, out long current);
            switch (random.Next(9))
            {
                case 0:
                    view.Apply(1, bytes, Bytes.Arguments(value));
                    model[key] = value;
                    break;
                case 1:
                    Assert.Equal(model.TryAdd(key, value), view.Apply<bool>(2, bytes, Bytes.Arguments(value)));
                    break;
                case 2:
                    long expected = random.Next(4);
                    bool updates = known && current == expected;
                    Assert.Equal(updates, view.Apply<bool>(3, bytes, Bytes.Arguments(value, expected)));
                    if (updates) model[key] = value;
                    break;
                case 3:
                    Assert.Equal(model.Remove(key), view.Apply<bool>(4, bytes, Bytes.NoArguments));
                    break;
                case 4:
                    Assert.Equal(known ? Lookup.Of(current) : Lookup<long>.None,
                        view.Apply<Lookup<long>>(5, bytes, Bytes.NoArguments));
                    model.Remove(key);
                    break;
                case 5:
                    Assert.Equal(known ? current : value, view.Apply<long>(6, bytes, Bytes.Arguments(value)));
                    model.TryAdd(key, value);
                    break;
                case 6 when random.Next(40) == 0:
                    view.Apply(7, Bytes.NoKey, Bytes.NoArguments);
                    model.Clear();
                    break;
                case 7 when random.Next(20) == 0:
                    view.Reload();
                    break;
                default:
                    Assert.Equal(known ? Lookup.Of(current) : Lookup<long>.None,
                        view.Read<Lookup<long>>("ReadTryGet", key));
                    Assert.Equal(known, view.Read<bool>("ReadContainsKey", key));
                    break;
            }
            Assert.Equal(model.Count, view.Read<int>("ReadCount"));
        }
        Assert.Equal(model.OrderBy(p => p.Key), view.Read<ImmutableDictionary<string, long>>("ReadItems")
            .OrderBy(p => p.Key));
    }

    [Fact]
    public void Set()
    {
        var view = new View<TangoSet<(int, string)>>();
        var model = new HashSet<(int, string)>();
        var random = new Random(2);
        for (int step = 0; step < Steps; step++)
        {
            (int, string) item = (random.Next(5), $"{random.Next(6)}");
            byte[] bytes = Bytes.Key(item);
            switch (random.Next(6))
            {
                case 0:
                    Assert.Equal(model.Add(item), view.Apply<bool>(1, bytes, Bytes.NoArguments));
                    break;
                case 1:
                    Assert.Equal(model.Remove(item), view.Apply<bool>(2, bytes, Bytes.NoArguments));
                    break;
                case 2:
                    view.Apply(3, bytes, Bytes.NoArguments);
                    model.Add(item);
                    break;
                case 3:
                    view.Apply(4, bytes, Bytes.NoArguments);
                    model.Remove(item);
                    break;
                case 4 when random.Next(30) == 0:
                    view.Apply(5, Bytes.NoKey, Bytes.NoArguments);
                    model.Clear();
                    break;
                case 5 when random.Next(20) == 0:
                    view.Reload();
                    break;
                default:
                    Assert.Equal(model.Contains(item), view.Read<bool>("ReadContains", item));
                    break;
            }
            Assert.Equal(model.Count, view.Read<int>("ReadCount"));
        }
        Assert.Equal(model.Order(), view.Read<ImmutableHashSet<(int, string)>>("ReadSnapshot").Order());
    }

    [Fact]
    public void List()
    {
        var view = new View<TangoList<string>>();
        var model = new List<string>();
        var random = new Random(3);
        for (int step = 0; step < Steps; step++)
        {
            int index = random.Next(-1, model.Count + 2);
            bool exists = index >= 0 && index < model.Count;
            string item = $"{random.Next(1000)}";
            switch (random.Next(7))
            {
                case 0:
                    view.Apply(1, Bytes.NoKey, Bytes.Arguments(item));
                    model.Add(item);
                    break;
                case 1 when index >= 0 && index <= model.Count:
                    view.Apply(2, Bytes.NoKey, Bytes.Arguments(index, item));
                    model.Insert(index, item);
                    break;
                case 2 when exists:
                    Assert.Equal(model[index], view.Apply<string>(3, Bytes.NoKey, Bytes.Arguments(index, item)));
                    model[index] = item;
                    break;
                case 3 when exists:
                    Assert.Equal(model[index], view.Apply<string>(4, Bytes.NoKey, Bytes.Arguments(index)));
                    model.RemoveAt(index);
                    break;
                case 4 when random.Next(100) == 0:
                    view.Apply(5, Bytes.NoKey, Bytes.NoArguments);
                    model.Clear();
                    break;
                case 5 when random.Next(20) == 0:
                    view.Reload();
                    break;
                default:
                    if (!exists) Refused(view, index, item, index != model.Count);
                    Assert.Equal(exists ? Lookup.Of(model[index]) : Lookup<string>.None,
                        view.Read<Lookup<string>>("ReadTryGet", index));
                    break;
            }
            Assert.Equal(model.Count, view.Read<int>("ReadCount"));
        }
        Assert.Equal(model, view.Read<ImmutableList<string>>("ReadSnapshot"));
    }

    [Fact]
    public void Queue()
    {
        var view = new View<TangoQueue<long>>();
        var model = new Queue<long>();
        var random = new Random(4);
        for (int step = 0; step < Steps; step++)
        {
            switch (random.Next(7))
            {
                case 0 or 1:
                    view.Apply(1, Bytes.NoKey, Bytes.Arguments((long)step));
                    model.Enqueue(step);
                    break;
                case 2:
                    Lookup<long> taken = model.TryDequeue(out long oldest) ? Lookup.Of(oldest) : Lookup<long>.None;
                    Assert.Equal(taken, view.Apply<Lookup<long>>(2, Bytes.NoKey, Bytes.NoArguments));
                    break;
                case 3 when random.Next(5) == 0:
                    int most = random.Next(-1, 6);
                    var expected = new List<long>();
                    while (expected.Count < most && model.TryDequeue(out long next)) expected.Add(next);
                    Assert.Equal(expected, view.Apply<ImmutableArray<long>>(3, Bytes.NoKey, Bytes.Arguments(most)));
                    break;
                case 4 when random.Next(200) == 0:
                    view.Apply(4, Bytes.NoKey, Bytes.NoArguments);
                    model.Clear();
                    break;
                case 5 when random.Next(20) == 0:
                    view.Reload();
                    break;
                default:
                    Lookup<long> first = model.TryPeek(out long peeked) ? Lookup.Of(peeked) : Lookup<long>.None;
                    Assert.Equal(first, view.Read<Lookup<long>>("ReadTryPeek"));
                    break;
            }
            Assert.Equal(model.Count, view.Read<int>("ReadCount"));
        }
        Assert.Equal(model, view.Read<ImmutableList<long>>("ReadSnapshot"));
    }

    [Fact]
    public void Counter()
    {
        var view = new View<TangoCounter>();
        view.Apply(1, Bytes.NoKey, Bytes.Arguments(5L));
        Assert.Equal(3, view.Apply<long>(2, Bytes.NoKey, Bytes.Arguments(-2L)));
        view.Apply(3, Bytes.NoKey, Bytes.Arguments(long.MaxValue - 1));
        Assert.Equal(long.MaxValue, view.Apply<long>(2, Bytes.NoKey, Bytes.Arguments(1L)));
        Assert.Throws<TangoRejectedException>(() => view.Apply<long>(2, Bytes.NoKey, Bytes.Arguments(1L)));
        view.Reload();
        Assert.Equal(long.MaxValue, view.Read<long>("ReadRead"));
        view.Apply(1, Bytes.NoKey, Bytes.Arguments(7L));
        Assert.Equal(long.MaxValue, view.Read<long>("ReadRead"));
        view.Apply(3, Bytes.NoKey, Bytes.Arguments(long.MinValue));
        view.Apply(1, Bytes.NoKey, Bytes.Arguments(-1L));
        Assert.Equal(long.MinValue, view.Read<long>("ReadRead"));
    }

    [Fact]
    public void Register()
    {
        var view = new View<TangoRegister<string?>>();
        Assert.Null(view.Read<string?>("ReadRead"));
        view.Reload();
        view.Apply(1, Bytes.NoKey, Bytes.Arguments("a"));
        Assert.Equal("a", view.Apply<string?>(2, Bytes.NoKey, Bytes.Arguments<string?>(null)));
        Assert.False(view.Apply<bool>(3, Bytes.NoKey, Bytes.Arguments("b", "a")));
        Assert.True(view.Apply<bool>(3, Bytes.NoKey, Bytes.Arguments<string, string?>("b", null)));
        view.Reload();
        Assert.Equal("b", view.Read<string?>("ReadRead"));
    }

    [Fact]
    public void Value_equal_by_own_Equals_is_still_stored()
    {
        var view = new View<TangoDictionary<int, Versioned>>();
        view.Apply(1, Bytes.Key(1), Bytes.Arguments(new Versioned(7, "old")));
        view.Apply(1, Bytes.Key(1), Bytes.Arguments(new Versioned(7, "new")));
        view.Reload();
        view.Apply(1, Bytes.Key(1), Bytes.Arguments(new Versioned(7, "newest")));
        Assert.Equal("newest", view.Read<Lookup<Versioned>>("ReadTryGet", 1).Value!.Text);
        Assert.Equal("newest", view.Read<ImmutableDictionary<int, Versioned>>("ReadItems")[1].Text);
    }

    [Fact]
    public void Checkpoints_of_equal_state_have_equal_bytes_whatever_the_history()
    {
        var one = new View<TangoDictionary<string, int>>();
        var other = new View<TangoDictionary<string, int>>();
        for (int i = 0; i < 500; i++) one.Apply(1, Bytes.Key($"{i}"), Bytes.Arguments(i));
        for (int i = 600; i >= 0; i--) other.Apply(1, Bytes.Key($"{i}"), Bytes.Arguments(i));
        for (int i = 500; i <= 600; i++) other.Apply(4, Bytes.Key($"{i}"), Bytes.NoArguments);
        Assert.Equal(one.Save(), other.Save());
    }

    private static void Refused(View<TangoList<string>> view, int index, string item, bool insertToo)
    {
        Assert.Throws<TangoRejectedException>(() => view.Apply(3, Bytes.NoKey, Bytes.Arguments(index, item)));
        Assert.Throws<TangoRejectedException>(() => view.Apply(4, Bytes.NoKey, Bytes.Arguments(index)));
        if (insertToo)
            Assert.Throws<TangoRejectedException>(() => view.Apply(2, Bytes.NoKey, Bytes.Arguments(index, item)));
    }
}
