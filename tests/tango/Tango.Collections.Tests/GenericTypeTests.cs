using System.Reflection;

namespace Tango.Collections.Tests;

public sealed class GenericTypeTests
{
    [Fact]
    public void Type_name_in_the_directory_includes_the_type_arguments()
    {
        Assert.Equal("tango.dictionary<string,int64>", TypeOf<TangoDictionary<string, long>>().Name);
        Assert.Equal("tango.queue<uint8?>", TypeOf<TangoQueue<byte?>>().Name);
        Assert.NotSame(TypeOf<TangoSet<int>>(), TypeOf<TangoSet<long>>());
        Assert.Same(TypeOf<TangoSet<int>>(), TypeOf<TangoSet<int>>());
    }

    [Fact]
    public void Collections_have_distinct_names_and_mutators_consecutive_numbers()
    {
        TangoObjectType[] types =
        [
            TypeOf<TangoCounter>(), TypeOf<TangoRegister<int>>(), TypeOf<TangoDictionary<int, int>>(),
            TypeOf<TangoSet<int>>(), TypeOf<TangoList<int>>(),
            TypeOf<TangoQueue<int>>(), TypeOf<TangoLogDictionary<int, int>>(),
            TypeOf<TangoSortedDictionary<int, int>>(), TypeOf<TangoSortedSet<int>>(),
            TypeOf<TangoTree<int>>(), TypeOf<TangoLock>(), TypeOf<TangoWorkQueue<int>>(),
            TypeOf<TangoLeasedDictionary<int, int>>(),
        ];
        Assert.Equal(types.Length, types.Select(t => t.Name).Distinct().Count());
        foreach (TangoObjectType type in types)
            Assert.Equal(Enumerable.Range(1, type.Mutators.Count), type.Mutators.Select(m => m.Number));
        // Every public class with the attribute is listed above.
        int declared = typeof(TangoCounter).Assembly.GetExportedTypes()
            .Count(t => t.GetCustomAttribute<TangoObjectAttribute>() is not null);
        Assert.Equal(types.Length, declared);
    }

    [Fact]
    public void R16_which_mutators_read()
    {
        Assert.Equal(["Set", "Clear"], Blind<TangoDictionary<int, int>>());
        Assert.Equal(["Ensure", "Drop", "Clear"], Blind<TangoSet<int>>());
        Assert.Equal(["Set", "Clear"], Blind<TangoSortedDictionary<int, int>>());
        Assert.Equal(["Ensure", "Drop", "Clear"], Blind<TangoSortedSet<int>>());
        Assert.Equal(["Set", "Clear"], Blind<TangoLogDictionary<int, int>>());
        Assert.Equal(["Add", "Clear"], Blind<TangoList<int>>());
        Assert.Equal(["Enqueue", "Clear"], Blind<TangoQueue<int>>());
        Assert.Equal(["Add", "Set"], Blind<TangoCounter>());
        Assert.Equal(["Write"], Blind<TangoRegister<int>>());
    }

    private static IEnumerable<string> Blind<T>()
        where T : TangoObject, ITangoObject<T> => TypeOf<T>().Mutators.Where(m => !m.Reads).Select(m => m.Name);

    private static TangoObjectType TypeOf<T>()
        where T : TangoObject, ITangoObject<T> => T.ObjectType;
}
