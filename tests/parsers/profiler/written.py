# ruff: noqa: E501  lines are those of the files
"""Files of producers of which no real one is at hand or may be copied, written from the columns that are documented."""

from __future__ import annotations

import json

FILES: dict[str, str] = {
    "gpu_op_type_info_0.csv": "op_type,type_occurrences,total_time(us),total_proportion,avg_time(us)\n"
    "MatMul,4,300.5,0.75,75.125\nAdd,2,100.25,0.25,50.125\n",
    "gpu_op_detail_info_0.csv": "op_side,op_type,op_name,op_full_name,op_occurrences,op_total_time(us),op_avg_time(us),"
    "total_proportion,cuda_activity_cost_time(us),cuda_activity_call_count\n"
    "Device,MatMul,MatMul-op1,Default/net/MatMul-op1,4,300.5,75.125,0.75,250.0,4\n"
    "Device,Add,Add-op2,Default/net/Add-op2,2,100.25,50.125,0.25,90.0,2\n",
    "gpu_activity_data_0.csv": "name,type,op_full_name,stream_id,block_dim,grid_dim,occurrences,total_duration(us),"
    "avg_duration,max_duration,min_duration\n"
    '"void gemm<float, int>(float*, int)",cuLaunchKernel,Default/net/MatMul-op1,7,"1,2,3","4,5,6",4,250.0,62.5,70.25,60.0\n',
    "gpu_op_execute_timestamp_0.txt": "Default/net/MatMul-op1;Ops;1600695893269618200,75.125 1600695893369618201,74.5\n",
    "activity_execute_timestamp_0.txt": "void gemm<float, int>(float*; int);7;1600695893269618300;62.501\n",
    "minddata_getnext_profiling_0.txt": "GetNext_dequeue_wait 1000 3500 2\nGetNext_dequeue_wait 5000 5000 0\n",
    "pynative_op_intermediate_0_type.csv": "op_type,execution_time,execution_frequency,percent\nMatMul,3.0,2,0.6\nAdd,2.0,4,0.4\n",
    "pynative_op_intermediate_0_detail.csv": "full_op_name,execution_time\nDefault/MatMul-op1,1.5\n",
    "aicpu_intermediate_0.csv": "serial_number,op_type,total_time,dispatch_time,run_start,run_end\n"
    "1,InitData-op3,7.906,0.15,154901853050,154901853210\n",
    "output_timeline_data_0.txt": "op_name, stream_id, start_time(us), duration(ms)\nDefault/net/AssignAdd-op142,519,154907895959.56,0.0031\n",
    "data_preprocess.csv": "Device_id,Timestamp(us),Node,Compute_time(us),Memcpy_time(us),Task_time(us),Dispatch_time(us),Total_time(us),"
    "Stream ID,Task ID\n0,1764246877073569.641,GetNext,1.5,0.25,2.125,0.5,3.0,4,11\n",
    "dataset.csv": "Operation,Stage,Occurrences,Avg. time (us),Custom Info\nBatch,WorkerProcess,8,12.5,\nMap,MainProcess,4,3.25,[x]\n",
    "communication.json": '{"step7": {"p2p": {}, "collective": {"hcom_allReduce__1_2@33": {"Communication Time Info": {'
    '"Start Timestamp(us)": 1736412474757059.5, "Elapse Time(ms)": 2.5, "Transit Time(ms)": 0.5, "Wait Time(ms)": 1.5, '
    '"Synchronization Time(ms)": 0.25, "Idle Time(ms)": 0.5}}, "Total Op Info": {"Communication Time Info": {}}}}}',
    "api_statistic.csv": "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\nhost,acl,aclrtMalloc,20.79,2,10.395,9.84,10.95,0.308\n",
    "op_statistic.csv": "Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n"
    "0,MatMul,AI_CORE,2,110.25,50.0,55.125,60.25,100.0\n",
    "step_trace_time.csv": "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing\n,10.5,2.25,1.0,3.25,4.0,16.75,0,2.25,0.5\n",
    "kernel_details.csv": "Step ID,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),"
    "Wait Time(us),Block Num,Input Shapes,aic_mac_ratio\n"
    "1,4294967295,9,2,Default/net/MatMul-op1/aclnnMatmul,MatMul,dynamic,AI_CORE,1764246877073569.641\t,55.161,0,24,"
    '"""2,3;3,4""",0.5\n',
    "operator_details.csv": "Name,Input Shapes\nDefault/net/MatMul-op1,\"2,3;3,4\"\n",
    "aicore_intermediate_0_type.csv": "kernel_type,total_time,execution_frequency,percent\nMatMul,1.5,3,75\nCast,0.5,1,25\n",
    "aicore_intermediate_0_detail.csv": "full_kernel_name,task_duration,execution_frequency,task_type\n"
    "Default/net/MatMul-op1,0.5,3,MIX_AIC\nDefault/net/Cast-op2,0.5,1,\n",
    "framework_raw_0.csv": "task_id,stream_id,block_dim,full_kernel_name,op_name,kernel_name,kernel_type,subgraph,op_info,graph_id\n"
    '4,519,1,Default/net/MatMul-op1,MatMul-op1,MatMul-op1,MatMulV3,Default,"{""input_0"": {""format"": ""ND"", ""data_type"": '
    '""NUMBER_TYPE_FLOAT16"", ""shape"": ""2,3""}, ""output_0"": {""format"": ""ND"", ""data_type"": ""x"", ""shape"": ""4""}}",1\n',
    "flops_0.txt": "full_kernel_name, FLOPs, FLOPS, FLOPS utilization\nDefault/net/MatMul-op1, 333, 12.5, 33\n",
    "info.json.0": '{"devices": "0", "DeviceInfo": [{"id": 0, "ai_core_num": 24, "aiv_num": 48, "aic_frequency": "1650", '
    '"aiv_frequency": "1650"}], "hostname": "host"}',
    "flops_summary_0.json": '{"cube_FLOPs": 8167.743, "cube_FLOPS": 9868.5, "cube_FLOPS_Utilization": 3.75, "vec_FLOPs": 20, "vec_FLOPS": 2.5}',
    "flops_scope_0.json": '{"data": {"nodes": [{"name": "Total"}, {"name": "Default"}], "links": [{"source": "Total", "target": "Default", '
    '"value": 12.5}]}, "max_scope_num": 1}',
    "dynamic_shape_info_0.json": '{"operator": {"2": [{"step": 2, "op_side": "gpu", "op_type": "Add", "op_name": "Add-op6", "dur": 75.616, '
    '"shape_info": ["[32, 1]", "[32]"]}]}, "kernel": {"2": [{"step": 2, "op_type": "cuLaunchKernel", "op_name": "k<float>(int)", '
    '"op_full_name": "Default/net/Add-op6", "dur": 3.904, "block_dim": "256,1,1", "grid_dim": "1,1,1"}]}}',
    "cpu_op_detail_info_0.csv": "op_side,op_type,op_name,full_op_name,op_occurrences,op_total_time(ms),op_avg_time(ms),"
    "total_proportion,subgraph,pid\nHost,ReLU,ReLU-op3,Default/net/ReLU-op3,4,2.0,0.5,1,Default,7\n",
    "cpu_framework_0.txt": "ReLU;ReLU-op3;848617839;input_1:[16, 6];input_2:NoShape;\n",
    "cpu_op_type_info_0.csv": "op_type,type_occurrences,execution_frequency(per-step),total_compute_time,avg_time(ms),percent\n"
    "MatMul,40,1,1.5,0.0375,1\n",
    "cpu_op_execute_timestamp_0.txt": "Default/MatMul-op1;HostCpuOps;1152768644821,0.095923,0 1152781066568,0.095383,3 \n",
    "cpu_ms_memory_record_0.txt": "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n"
    "1795218022805761258,512,1073741824,512\n",
    "device_queue_profiling_0.txt": "0 1 1 4 10\n0 2 1 9 10\n0 0 1 5 10\n1 64 1 3 10\n",
    "step_trace_raw_0_detail_time.csv": "step_num,start_point,end_point,total,fp_point,bp_point,iteration_interval,fp_and_bp,tail,"
    "stream_11_0_AllReduce-op9,stream_11_0_AllReduce-op9_start_point,stream_11_0_AllReduce-op9_end_point\n"
    "1,100,200,100,110,180,10,70,20,5,120,125\n-,100,200,100,110,180,10,70,20,5,120,125\n",
    "minddata_pipeline_raw_0.csv": "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length,"
    'output_queue_usage_rate,sample_interval,parent_id,children_id\n0,Batch,4,,,,0,10,,[1]\n1,Map,8,"[1, 3]",2.0,64,0.03125,10,0,\n',
    "pipeline_profiling_0.json": json.dumps(
        {
            "sampling_interval": 10,
            "op_info": [
                {"op_id": 0, "op_type": "Batch", "num_workers": 4, "children": [1], "metrics": None},
                {"op_id": 1, "op_type": "Map", "num_workers": 8, "metrics": {"output_queue": {"size": [1, 3], "length": 64}}},
            ],
        }
    ),
    "memory_record.csv": "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n"
    "APP,1764246877082702.440\t,,11925.015625,,,NPU:0\nPTA,1764246877082703.000\t,4304.95751953125,10372.0,4304.95751953125,2,NPU:0\n"
    "PTA+GE,1764246877082703.000\t,4304.95751953125,10372.0,4304.95751953125,2,NPU:0\n",
    "operator_memory.csv": "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),"
    "Active Duration(us),Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),"
    "Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\n"
    "aten::mul,8192.5,1764246877077300.010\t,1764246877077616.730\t,1764246877077613.640\t,316.720,313.630,4313.0693359375,"
    "10372.0,4313.0693359375,4313.0693359375,10372.0,4313.0693359375,2,NPU:0\n"
    "aten::gt,1.0,1764246877077310.000\t,,,,,4304.958984375,10372.0,4304.958984375,,,,2,NPU:0\n",
    "npu_module_mem.csv": "Device_id,Component,Timestamp(us),Total Reserved(KB),Device\n"
    "0,HCCL,1764246877076535.790\t,1271500.0,NPU:0\n0,SLOG,1764246877076535.790\t,0.0,NPU:0\n",
    "static_op_mem.csv": "Device_id,Op Name,Model Name,Graph ID,Node Index Start,Node Index End,Size(KB)\n"
    "host,conv,0,0,1,6,1250.03125\nhost,relu,0,0,4,4294967295,8.0\nhost,TOTAL,0,0,1,4294967295,1500.5\n",
    "memory_usage_summary_0.json": '{"capacity": 31.0, "allocations": 12, "deallocations": 12, "peak_mem": 1.5, "static_mem": 0.25}',
    "memory_usage_details_0.json": json.dumps(
        {
            "0": {
                "graph_id": 0, "static_mem": 0.25, "fp_start": 1, "bp_end": 2, "lines": [0.25, 0.75, 0.5],
                "nodes": [
                    {"name": "Cast-op1", "fullname": "Default/Cast-op1", "node_id": 0, "allocations": 0, "size": 0, "allocated": 0},
                    {"name": "Conv-op2", "fullname": "Default/Conv-op2", "node_id": 1, "allocations": 1, "size": 0.5, "allocated": 0.5},
                    {"name": "ReLU-op3", "fullname": "", "node_id": 2, "allocations": 1, "size": 0.25, "allocated": -0.25},
                ],
                "breakdowns": [
                    [{"tensor_name": "Conv-op2:0", "tensor_id": 4, "size": 0.5, "type": "kOutputOnly", "shape": [32, 6], "format": "NCHW",
                      "data_type": "float16", "life_long": "LifeLongNone", "life_start": 1, "life_end": 2}],
                ],
            }
        }
    ),
    "memory_block.csv": "start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,actual_peak_memory,file_name,line_num,"
    "type,producer_task,task_name,node_name,graph_name,user_tasks,last_user_task,python_stack,is_persistent,is_small,\n"
    "2,9,0x12c041200000,0,Default,1024,1024,kernel_actor.cc,51,KernelOutput,1,Default/Mul-op1,Default/net/Mul-op1,kernel_graph_0,"
    "{3-7-},7,train.py:12,0,0,\n"
    "4,18446744073709551615,0x12c041200400,0,Default,2048,3072,,,Weight,1,,,,{},,,1,0,\n",
    "task.csv": "time_stamp,task_name,node_name,graph_name,file_name,line_num,python_stack,\n"
    "1,Default/Mul-op1,Default/net/Mul-op1,kernel_graph_0,kernel_actor.cc,48,train.py:12,\n",
    "minddata_cpu_utilization_0.json": json.dumps(
        {
            "sampling_interval": 10, "cpu_processor_num": 4, "time_stamp": [5, 15],
            "device_info": {"user_utilization": [10, 20], "context_switch_count": [7, 0, 9, 0]},
            "process_info": {"user_utilization": [5]}, "op_info": [{"op_id": 1, "metrics": {"user_utilization": [1, 2]}}],
            "process_memory_info": {"rss_mbytes": [1.5, 2.5]},
        }
    ),
}  # fmt: skip
