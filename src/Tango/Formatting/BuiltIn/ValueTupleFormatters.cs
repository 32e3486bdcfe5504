// One class per arity: tuples have no common base that would do without boxing.
namespace Tango.Formatting;

internal sealed class ValueTupleFormatter<T1> : ITangoFormatter<ValueTuple<T1>>
{
    private ITangoFormatter<T1> _item1 = null!;

    public bool IsVersionKey => _item1.IsVersionKey;

    public void Resolve()
    {
        _item1 = TangoFormatters.Get<T1>();
    }

    public void Write(ref MessagePackWriter writer, ValueTuple<T1> value)
    {
        writer.Enter();
        writer.WriteArrayHeader(1);
        _item1.Write(ref writer, value.Item1);
        writer.Leave();
    }

    public ValueTuple<T1> Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(1);
        reader.Enter();
        var value = new ValueTuple<T1>(_item1.Read(ref reader));
        reader.Leave();
        return value;
    }
}

internal sealed class ValueTupleFormatter<T1, T2> : ITangoFormatter<ValueTuple<T1, T2>>
{
    private ITangoFormatter<T1> _item1 = null!;
    private ITangoFormatter<T2> _item2 = null!;

    public bool IsVersionKey => _item1.IsVersionKey && _item2.IsVersionKey;

    public void Resolve()
    {
        _item1 = TangoFormatters.Get<T1>();
        _item2 = TangoFormatters.Get<T2>();
    }

    public void Write(ref MessagePackWriter writer, ValueTuple<T1, T2> value)
    {
        writer.Enter();
        writer.WriteArrayHeader(2);
        _item1.Write(ref writer, value.Item1);
        _item2.Write(ref writer, value.Item2);
        writer.Leave();
    }

    public ValueTuple<T1, T2> Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        reader.Enter();
        var value = new ValueTuple<T1, T2>(_item1.Read(ref reader), _item2.Read(ref reader));
        reader.Leave();
        return value;
    }
}

internal sealed class ValueTupleFormatter<T1, T2, T3> : ITangoFormatter<ValueTuple<T1, T2, T3>>
{
    private ITangoFormatter<T1> _item1 = null!;
    private ITangoFormatter<T2> _item2 = null!;
    private ITangoFormatter<T3> _item3 = null!;

    public bool IsVersionKey => _item1.IsVersionKey && _item2.IsVersionKey && _item3.IsVersionKey;

    public void Resolve()
    {
        _item1 = TangoFormatters.Get<T1>();
        _item2 = TangoFormatters.Get<T2>();
        _item3 = TangoFormatters.Get<T3>();
    }

    public void Write(ref MessagePackWriter writer, ValueTuple<T1, T2, T3> value)
    {
        writer.Enter();
        writer.WriteArrayHeader(3);
        _item1.Write(ref writer, value.Item1);
        _item2.Write(ref writer, value.Item2);
        _item3.Write(ref writer, value.Item3);
        writer.Leave();
    }

    public ValueTuple<T1, T2, T3> Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(3);
        reader.Enter();
        var value = new ValueTuple<T1, T2, T3>(_item1.Read(ref reader), _item2.Read(ref reader),
            _item3.Read(ref reader));
        reader.Leave();
        return value;
    }
}

internal sealed class ValueTupleFormatter<T1, T2, T3, T4> : ITangoFormatter<ValueTuple<T1, T2, T3, T4>>
{
    private ITangoFormatter<T1> _item1 = null!;
    private ITangoFormatter<T2> _item2 = null!;
    private ITangoFormatter<T3> _item3 = null!;
    private ITangoFormatter<T4> _item4 = null!;

    public bool IsVersionKey =>
        _item1.IsVersionKey && _item2.IsVersionKey && _item3.IsVersionKey && _item4.IsVersionKey;

    public void Resolve()
    {
        _item1 = TangoFormatters.Get<T1>();
        _item2 = TangoFormatters.Get<T2>();
        _item3 = TangoFormatters.Get<T3>();
        _item4 = TangoFormatters.Get<T4>();
    }

    public void Write(ref MessagePackWriter writer, ValueTuple<T1, T2, T3, T4> value)
    {
        writer.Enter();
        writer.WriteArrayHeader(4);
        _item1.Write(ref writer, value.Item1);
        _item2.Write(ref writer, value.Item2);
        _item3.Write(ref writer, value.Item3);
        _item4.Write(ref writer, value.Item4);
        writer.Leave();
    }

    public ValueTuple<T1, T2, T3, T4> Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(4);
        reader.Enter();
        var value = new ValueTuple<T1, T2, T3, T4>(_item1.Read(ref reader), _item2.Read(ref reader),
            _item3.Read(ref reader), _item4.Read(ref reader));
        reader.Leave();
        return value;
    }
}

internal sealed class ValueTupleFormatter<T1, T2, T3, T4, T5> : ITangoFormatter<ValueTuple<T1, T2, T3, T4, T5>>
{
    private ITangoFormatter<T1> _item1 = null!;
    private ITangoFormatter<T2> _item2 = null!;
    private ITangoFormatter<T3> _item3 = null!;
    private ITangoFormatter<T4> _item4 = null!;
    private ITangoFormatter<T5> _item5 = null!;

    public bool IsVersionKey =>
        _item1.IsVersionKey && _item2.IsVersionKey && _item3.IsVersionKey && _item4.IsVersionKey && _item5.IsVersionKey;

    public void Resolve()
    {
        _item1 = TangoFormatters.Get<T1>();
        _item2 = TangoFormatters.Get<T2>();
        _item3 = TangoFormatters.Get<T3>();
        _item4 = TangoFormatters.Get<T4>();
        _item5 = TangoFormatters.Get<T5>();
    }

    public void Write(ref MessagePackWriter writer, ValueTuple<T1, T2, T3, T4, T5> value)
    {
        writer.Enter();
        writer.WriteArrayHeader(5);
        _item1.Write(ref writer, value.Item1);
        _item2.Write(ref writer, value.Item2);
        _item3.Write(ref writer, value.Item3);
        _item4.Write(ref writer, value.Item4);
        _item5.Write(ref writer, value.Item5);
        writer.Leave();
    }

    public ValueTuple<T1, T2, T3, T4, T5> Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(5);
        reader.Enter();
        var value = new ValueTuple<T1, T2, T3, T4, T5>(
            _item1.Read(ref reader),
            _item2.Read(ref reader),
            _item3.Read(ref reader),
            _item4.Read(ref reader),
            _item5.Read(ref reader));
        reader.Leave();
        return value;
    }
}

internal sealed class ValueTupleFormatter<T1, T2, T3, T4, T5, T6> : ITangoFormatter<ValueTuple<T1, T2, T3, T4, T5, T6>>
{
    private ITangoFormatter<T1> _item1 = null!;
    private ITangoFormatter<T2> _item2 = null!;
    private ITangoFormatter<T3> _item3 = null!;
    private ITangoFormatter<T4> _item4 = null!;
    private ITangoFormatter<T5> _item5 = null!;
    private ITangoFormatter<T6> _item6 = null!;

    public bool IsVersionKey =>
        _item1.IsVersionKey && _item2.IsVersionKey && _item3.IsVersionKey && _item4.IsVersionKey && _item5.IsVersionKey
        && _item6.IsVersionKey;

    public void Resolve()
    {
        _item1 = TangoFormatters.Get<T1>();
        _item2 = TangoFormatters.Get<T2>();
        _item3 = TangoFormatters.Get<T3>();
        _item4 = TangoFormatters.Get<T4>();
        _item5 = TangoFormatters.Get<T5>();
        _item6 = TangoFormatters.Get<T6>();
    }

    public void Write(ref MessagePackWriter writer, ValueTuple<T1, T2, T3, T4, T5, T6> value)
    {
        writer.Enter();
        writer.WriteArrayHeader(6);
        _item1.Write(ref writer, value.Item1);
        _item2.Write(ref writer, value.Item2);
        _item3.Write(ref writer, value.Item3);
        _item4.Write(ref writer, value.Item4);
        _item5.Write(ref writer, value.Item5);
        _item6.Write(ref writer, value.Item6);
        writer.Leave();
    }

    public ValueTuple<T1, T2, T3, T4, T5, T6> Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(6);
        reader.Enter();
        var value = new ValueTuple<T1, T2, T3, T4, T5, T6>(
            _item1.Read(ref reader),
            _item2.Read(ref reader),
            _item3.Read(ref reader),
            _item4.Read(ref reader),
            _item5.Read(ref reader),
            _item6.Read(ref reader));
        reader.Leave();
        return value;
    }
}

internal sealed class ValueTupleFormatter<T1, T2, T3, T4, T5, T6, T7>
    : ITangoFormatter<ValueTuple<T1, T2, T3, T4, T5, T6, T7>>
{
    private ITangoFormatter<T1> _item1 = null!;
    private ITangoFormatter<T2> _item2 = null!;
    private ITangoFormatter<T3> _item3 = null!;
    private ITangoFormatter<T4> _item4 = null!;
    private ITangoFormatter<T5> _item5 = null!;
    private ITangoFormatter<T6> _item6 = null!;
    private ITangoFormatter<T7> _item7 = null!;

    public bool IsVersionKey =>
        _item1.IsVersionKey && _item2.IsVersionKey && _item3.IsVersionKey && _item4.IsVersionKey && _item5.IsVersionKey
        && _item6.IsVersionKey && _item7.IsVersionKey;

    public void Resolve()
    {
        _item1 = TangoFormatters.Get<T1>();
        _item2 = TangoFormatters.Get<T2>();
        _item3 = TangoFormatters.Get<T3>();
        _item4 = TangoFormatters.Get<T4>();
        _item5 = TangoFormatters.Get<T5>();
        _item6 = TangoFormatters.Get<T6>();
        _item7 = TangoFormatters.Get<T7>();
    }

    public void Write(ref MessagePackWriter writer, ValueTuple<T1, T2, T3, T4, T5, T6, T7> value)
    {
        writer.Enter();
        writer.WriteArrayHeader(7);
        _item1.Write(ref writer, value.Item1);
        _item2.Write(ref writer, value.Item2);
        _item3.Write(ref writer, value.Item3);
        _item4.Write(ref writer, value.Item4);
        _item5.Write(ref writer, value.Item5);
        _item6.Write(ref writer, value.Item6);
        _item7.Write(ref writer, value.Item7);
        writer.Leave();
    }

    public ValueTuple<T1, T2, T3, T4, T5, T6, T7> Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(7);
        reader.Enter();
        var value = new ValueTuple<T1, T2, T3, T4, T5, T6, T7>(
            _item1.Read(ref reader),
            _item2.Read(ref reader),
            _item3.Read(ref reader),
            _item4.Read(ref reader),
            _item5.Read(ref reader),
            _item6.Read(ref reader),
            _item7.Read(ref reader));
        reader.Leave();
        return value;
    }
}

internal sealed class ValueTupleFormatter<T1, T2, T3, T4, T5, T6, T7, TRest>
    : ITangoFormatter<ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>>
    where TRest : struct
{
    private ITangoFormatter<T1> _item1 = null!;
    private ITangoFormatter<T2> _item2 = null!;
    private ITangoFormatter<T3> _item3 = null!;
    private ITangoFormatter<T4> _item4 = null!;
    private ITangoFormatter<T5> _item5 = null!;
    private ITangoFormatter<T6> _item6 = null!;
    private ITangoFormatter<T7> _item7 = null!;
    private ITangoFormatter<TRest> _item8 = null!;

    public bool IsVersionKey =>
        _item1.IsVersionKey && _item2.IsVersionKey && _item3.IsVersionKey && _item4.IsVersionKey && _item5.IsVersionKey
        && _item6.IsVersionKey && _item7.IsVersionKey && _item8.IsVersionKey;

    public void Resolve()
    {
        _item1 = TangoFormatters.Get<T1>();
        _item2 = TangoFormatters.Get<T2>();
        _item3 = TangoFormatters.Get<T3>();
        _item4 = TangoFormatters.Get<T4>();
        _item5 = TangoFormatters.Get<T5>();
        _item6 = TangoFormatters.Get<T6>();
        _item7 = TangoFormatters.Get<T7>();
        _item8 = TangoFormatters.Get<TRest>();
    }

    public void Write(ref MessagePackWriter writer, ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> value)
    {
        writer.Enter();
        writer.WriteArrayHeader(8);
        _item1.Write(ref writer, value.Item1);
        _item2.Write(ref writer, value.Item2);
        _item3.Write(ref writer, value.Item3);
        _item4.Write(ref writer, value.Item4);
        _item5.Write(ref writer, value.Item5);
        _item6.Write(ref writer, value.Item6);
        _item7.Write(ref writer, value.Item7);
        _item8.Write(ref writer, value.Rest);
        writer.Leave();
    }

    public ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest> Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(8);
        reader.Enter();
        var value = new ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>(
            _item1.Read(ref reader),
            _item2.Read(ref reader),
            _item3.Read(ref reader),
            _item4.Read(ref reader),
            _item5.Read(ref reader),
            _item6.Read(ref reader),
            _item7.Read(ref reader),
            _item8.Read(ref reader));
        reader.Leave();
        return value;
    }
}
